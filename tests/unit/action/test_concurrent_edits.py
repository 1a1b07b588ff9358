# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Another program edits a file after it was read and before it is written: the edit stays and is shown."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.packing import pack
from ansible_collections.volcano.colocation.plugins.plugin_utils.node import concurrent_edits
from ansible_collections.volcano.colocation.plugins.plugin_utils.node.concurrent_edits import redacted_difference
from ansible_collections.volcano.colocation.plugins.plugin_utils.node.transport import Node, NodeFailure
from ansible_collections.volcano.colocation.tests.support.tasks import in_process
from ansible_collections.volcano.colocation.tests.support.tasks.node_image import KUBELET, KUBELET_TEXT, RUNTIME, grow

module = in_process.module
SECRET = "hunter2-Qx7c"


def edited(monkeypatch: pytest.MonkeyPatch, path: Path, text: str | None) -> None:
    """When the transaction should begin."""

    def interfere(name: str, arguments: Mapping[str, Any], **more: Any) -> dict[str, Any]:
        if name.endswith("node_transaction") and arguments["action"] == "start":
            path.unlink() if text is None else path.write_text(text)
        return module(name, arguments, **more)

    monkeypatch.setattr(in_process, "module", interfere)


def kubelet(root: Path) -> dict[str, Any]:
    return in_process.action("kubelet_config", {"root": str(root), "cgroup_driver": "systemd"})


def test_an_edit_is_shown_and_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = grow(tmp_path, {})
    foreign_text = f"{KUBELET_TEXT}maxPods: 50\npassword: {SECRET}\n"
    edited(monkeypatch, root / KUBELET, foreign_text)
    result = kubelet(root)
    assert result["failed"]
    lines = result["msg"].splitlines()
    assert lines[0].startswith("Nothing was changed. Step 'check the node' failed: ")
    assert lines[1:3] == [f"--- /{KUBELET} as it was read", f"+++ /{KUBELET} now"]
    assert "+maxPods: 50" in lines
    assert SECRET not in str(result)
    assert (root / KUBELET).read_text() == foreign_text


def test_a_file_that_is_gone_is_shown_as_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = grow(tmp_path, {})
    edited(monkeypatch, root / RUNTIME, None)
    result = in_process.action("containerd_config", {"root": str(root), "cgroup_driver": "systemd"})
    assert result["failed"]
    assert "\n-version = 2" in result["msg"]
    assert not (root / RUNTIME).exists()


def test_an_edit_elsewhere_is_no_conflict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = grow(tmp_path, {})
    edited(monkeypatch, root / RUNTIME, "version = 2\n")
    assert kubelet(root)["changed"]


def silent(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    raise NodeFailure({"failed": True, "msg": f"no answer to {name} {arguments}"})


@pytest.mark.parametrize("state", ["rollback-failed", "refused"])
def test_unknown_changes_are_not_reported(state: str) -> None:
    assert concurrent_edits.describe(Node(silent), (), {"state": state}) == ""


def test_a_new_snapshot_that_cannot_be_read_does_not_replace_the_failure() -> None:
    node = Node(lambda _name, _arguments: {"snapshot": pack({"schema": 1})})
    assert concurrent_edits.describe(node, (), {"state": "rolled-back"}) == ""


def test_changed_line_ends_are_a_difference_that_is_shown() -> None:
    redacted = redacted_difference("a\nb\x1b\n", "a\r\nb\x1b\n", "one", "other")
    assert redacted.splitlines() == ["--- one", "+++ other", "@@ -1,2 +1,2 @@", "-a", "+a\\r", " b\\x1b"]
