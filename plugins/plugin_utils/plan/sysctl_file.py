# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The file of sysctl.d that keeps the kernel's switches for the Volcano agent on, as one edit of a transaction."""

from __future__ import annotations

import hashlib
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...module_utils.snapshot.machine_evidence import SYSCTLS_FILE
from ..profile.validators import ProfileError
from .change_set import Refusal
from .transaction_document import SCHEMA, new_id

HEADER = "# Written by the role agent of volcano.colocation.\n"
SECTION = "sysctl"
"""Of the ledger, for whoever puts just that back."""
_NAME = re.compile(r"[a-z0-9_]+(?:\.[A-Za-z0-9_-]+)+")


@dataclass(frozen=True)
class SysctlEdit:
    """The file before and after; None where there is none."""

    before: str | None
    after: str | None


def plan_sysctls(captured: Mapping[str, Any], switches: Sequence[str]) -> SysctlEdit | None:
    """What has to change so that these switches are 1 at each boot; None for nothing. ProfileError for a wrong name."""
    for name in switches:
        if not _NAME.fullmatch(name):
            raise ProfileError("sysctls", f"{name!r} is not the name of a sysctl such as vm.memcg_qos_enable")
    before = None if captured["kind"] == "missing" else captured.get("text")
    after = HEADER + "".join(f"{name} = 1\n" for name in switches) if switches else None
    return None if before == after else SysctlEdit(before, after)


def sysctl_refusals(captured: Mapping[str, Any], switches: Sequence[str]) -> tuple[Refusal, ...]:
    """A link, a directory, or what cannot be read is left as it is."""
    if captured["kind"] == "missing" or (captured["kind"] == "regular" and "text" in captured):
        return ()
    reason = captured.get("error", f"is a {captured['kind']}, not a regular file")
    return (Refusal("sysctl-file-unusable", reason, "Move it away; the file is made again.", file=SYSCTLS_FILE),)


def sysctl_document(edit: SysctlEdit) -> dict[str, Any]:
    """The document for node_transaction: one file is written or removed, and nothing is restarted."""
    before = edit.before
    entry: dict[str, Any] = {
        "path": SYSCTLS_FILE,
        "before_sha256": None
        if before is None
        else hashlib.sha256(before.encode("utf-8", "surrogateescape")).hexdigest(),
        "section": SECTION,
    }
    change = {"remove": True} if edit.after is None else {"after": edit.after, "mode": "0644"}
    return {
        "schema": SCHEMA,
        "id": new_id(),
        "controller": platform.node() or None,
        "summary": [f"{'remove' if edit.after is None else 'write'} {SYSCTLS_FILE}"],
        "files": [{**entry, **change}],
    }
