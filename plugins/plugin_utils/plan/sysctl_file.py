# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sysctl.d file that enables the Volcano agent's sysctls at boot, as one edit of a transaction."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...module_utils.snapshot.machine_evidence import SYSCTLS_FILE
from ..facts.config_file import Cause, missing_text
from ..profile.validators import ProfileError
from .change_set import Refusal
from .file_edits import text_sha256
from .transaction_document import files_only

HEADER = "# Written by the role agent of volcano.colocation.\n"
SECTION = "sysctl"
"""The section of the ledger, so that restore can select it."""
_NAME = re.compile(r"[a-z0-9_]+(?:\.[A-Za-z0-9_-]+)+")


@dataclass(frozen=True)
class SysctlEdit:
    """The text of the file before and after; None if it does not exist."""

    before: str | None
    after: str | None


def plan_sysctls(captured: Mapping[str, Any], sysctls: Sequence[str]) -> SysctlEdit | None:
    """The edit that sets these sysctls to 1 at each boot; None if nothing changes. ProfileError for a wrong name."""
    for name in sysctls:
        if not _NAME.fullmatch(name):
            raise ProfileError("sysctls", f"{name!r} is not the name of a sysctl such as vm.memcg_qos_enable")
    before = None if captured["kind"] == "missing" else captured.get("text")
    after = HEADER + "".join(f"{name} = 1\n" for name in sysctls) if sysctls else None
    return None if before == after else SysctlEdit(before, after)


def sysctl_refusals(captured: Mapping[str, Any], sysctls: Sequence[str]) -> tuple[Refusal, ...]:
    """Refuse a link, a directory, or a file that cannot be read."""
    if captured["kind"] == "missing" or (captured["kind"] == "regular" and "text" in captured):
        return ()
    problem = missing_text(SYSCTLS_FILE, captured)
    remedy = f"{problem.remedy}." if problem.cause is Cause.NOT_READ else "Move it away; the next run creates the file."
    return (Refusal("sysctl-file-unusable", problem.message, remedy, file=SYSCTLS_FILE),)


def sysctl_document(edit: SysctlEdit) -> dict[str, Any]:
    """The document for node_transaction: one file is written or removed, and nothing is restarted."""
    entry: dict[str, Any] = {
        "path": SYSCTLS_FILE,
        "before_sha256": None if edit.before is None else text_sha256(edit.before),
        "section": SECTION,
    }
    change = {"remove": True} if edit.after is None else {"after": edit.after, "mode": "0644"}
    summary = f"{'remove' if edit.after is None else 'write'} {SYSCTLS_FILE}"
    return files_only([summary], [{**entry, **change}])
