# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans sent to node_transaction: invalid documents, paths that lead elsewhere, plans that do not match the node.

tests/unit/module_utils/state/test_plan_document.py tests the checks of each field of a document.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from ansible_collections.volcano.colocation.tests.support.tasks.node_image import KUBELET, KUBELET_TEXT, STATE
from ansible_collections.volcano.colocation.tests.unit.malformed.case import Case

SAME_VERSION = "must use the same version of volcano.colocation"
HASH = hashlib.sha256(KUBELET_TEXT.encode()).hexdigest()


def _edit(path: str = f"/{KUBELET}", **changes: Any) -> str:
    edit = {"path": path, "before_sha256": HASH, "after": "managed\n", **changes}
    return json.dumps({"schema": 1, "id": "t-1", "files": [edit]})


def _not_read(message: str, plan: str) -> Case:
    return Case("node_transaction", {"plan": plan}, ("the plan is not valid", message, SAME_VERSION))


CASES = {
    "nothing": Case("node_transaction", {}, ("plan",)),
    "no JSON": _not_read("JSON", "x"),
    "cut off": _not_read("JSON", _edit()[:-5]),
    "a list": _not_read("expected an object", "[]"),
    "lists without end": _not_read("JSON", "[" * 100_000),
    "another version": _not_read("schema: expected 1", '{"schema": 2, "id": "t-1"}'),
    "id through ..": _not_read("id: expected letters", '{"schema": 1, "id": "../t"}'),
    "path through ..": _not_read("files[0].path: expected an absolute path", _edit("/etc/../etc/shadow")),
    "relative path": _not_read("files[0].path: expected an absolute path", _edit("etc/shadow")),
    "path with NUL": _not_read("files[0].path: expected an absolute path", _edit("/etc/x\0")),
    "mode beyond the permissions": _not_read("mode: expected an octal mode", _edit(mode="4755")),
    "owner of a name": _not_read(
        "owner: expected UID:GID", _edit(nature={"mode": "0644", "owner": "root", "xattrs": {}})
    ),
    "unknown key": _not_read("expected no key extra", _edit(extra=1)),
    "unit that is none": _not_read(
        "unit: expected the name",
        json.dumps({"schema": 1, "id": "t-1", "services": {"kubelet": {"unit": "-x --now", "action": "leave"}}}),
    ),
    "cgroup through ..": _not_read(
        "stale_cgroups: expected names", '{"schema": 1, "id": "t-1", "stale_cgroups": ["a/../.."]}'
    ),
    "transaction that is not there": Case(
        "node_transaction", {"action": "wait", "id": "t-9"}, ("transaction t-9 does not exist", "Start one")
    ),
    "unknown way": Case("node_transaction", {"action": "recover", "recover": "never"}, ("undo, finish, stop",)),
}


# A plan that does not match the node is refused in the result, not by a failure, and recorded in the state directory.


def _link(root: Path) -> None:
    (root / KUBELET).rename(root / "real.yaml")
    (root / KUBELET).symlink_to("/real.yaml")


def _led_out(root: Path) -> None:
    (root / KUBELET).parent.rename(root.parent / "outside")
    (root / KUBELET).parent.symlink_to(root.parent / "outside")


def _refused(message: str, plan: str, **more: Any) -> Case:
    return Case(
        "node_transaction", {"plan": plan}, (message,), record_paths=(f"image/{STATE}", "image/var/lib"), **more
    )


ANSWERED = {
    "link": _refused(f"/{KUBELET}: it is a symbolic link to /real.yaml", _edit(), spoil=_link),
    "directory that leads out": _refused(f"/{KUBELET}: it no longer exists", _edit(), spoil=_led_out),
    "another text": _refused("was changed by someone else since it was read", _edit(before_sha256="0" * 64)),
    "file that is there": _refused("was created by someone else", _edit(before_sha256=None)),
    "file that is gone": _refused("no longer exists", _edit("/etc/none")),
    "file below a file": _refused("/etc/containerd/config.toml/x: ", _edit("/etc/containerd/config.toml/x")),
}
