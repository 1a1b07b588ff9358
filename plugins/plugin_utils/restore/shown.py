# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A restore as the person sees it who ran it: redacted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..redact import redact_text
from .model import QOS, SLICES, Conflict, Evidence
from .plan import Restore

NOTHING = "Nothing was changed"


def diffs(evidence: Evidence, restore: Restore) -> list[dict[str, str]]:
    """Ansible's diff entries: files, slices, settings."""
    return [_redacted(each) for each in _entries(evidence, restore)]


def _entries(evidence: Evidence, restore: Restore) -> Iterator[dict[str, str]]:
    if QOS in restore.sections and evidence.qos["before"] != evidence.qos["after"]:
        yield _entry("QoS settings", evidence.qos["before"], evidence.qos["after"])
    for each in restore.files.edits:
        yield _entry(each.path, each.found.text if each.found else "", each.original.text if each.original else "")
    if SLICES in restore.sections:
        for slice_ in evidence.slices["slices"]:
            yield from slice_["diff"]
        for stray in evidence.slices["strays"]:
            yield _entry(stray["path"], stray["text"], "")


def _entry(name: str, before: str, after: str) -> dict[str, str]:
    return {"before_header": name, "after_header": name, "before": before, "after": after}


def _redacted(entry: Mapping[str, str]) -> dict[str, str]:
    return {**entry, "before": redact_text(entry["before"]), "after": redact_text(entry["after"])}


def published(restore: Restore) -> dict[str, Any]:
    """What the result tells beside ``changed`` and ``diff``."""
    return {
        "changes": [each.published() for each in restore.changes],
        "pending": [each.published() for each in restore.pending],
        "conflicts": [_conflict(each) for each in restore.conflicts],
        "permission": _conflict(restore.permission) if restore.permission else None,
        "notes": list(restore.notes),
    }


def _conflict(conflict: Conflict) -> dict[str, str]:
    return {
        "section": conflict.section,
        "target": conflict.target,
        "reason": conflict.reason,
        "remedy": conflict.remedy,
        "diff": conflict.diff,
    }


def conflict_message(restore: Restore) -> str:
    """Everything that keeps the restore from being applied in one text, each conflict with its difference."""
    told = [str(each) for each in restore.obstacles]
    if len(told) == 1:
        return f"{NOTHING}. {told[0]}"
    return "\n".join([f"{NOTHING}, for {len(told)} reasons:", *(f"- {each}" for each in told)])
