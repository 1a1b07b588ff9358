# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading of what node_ledger tells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..controller.evidence import checked_snapshot
from ..facts.node import SnapshotError
from ..facts.shape import ANY, NOTHING, SWITCH, TEXT, first_difference
from .model import SCHEMA, Content, Earlier, Evidence, Standing, Target

_CONTENT = {"text": TEXT, "mode": TEXT, "owner": TEXT, "xattrs": {}}
_FILE = (_CONTENT, None)
_TARGET = {
    "path": TEXT,
    "section": TEXT,
    "kind": TEXT,
    "original": _FILE,
    "committed": _FILE,
    "found": _FILE,
    "original_file": TEXT + NOTHING,
    "last": TEXT + NOTHING,
    "earlier": [{"id": TEXT, "backups": TEXT}],
    "error": TEXT + NOTHING,
}
_DIFF = {"before_header": TEXT, "before": TEXT, "after": TEXT}
_EVIDENCE: dict[str, Any] = {
    "targets": [_TARGET],
    "slices": {"slices": [{"diff": [_DIFF]}], "strays": [{"path": TEXT, "text": TEXT}]},
    "qos": {"changed": SWITCH, "settings": [{}], "before": TEXT, "after": TEXT, "error": TEXT + NOTHING},
    "without_ledger": [{"id": TEXT, "backups": TEXT, "files": [TEXT]}],
    "unfinished": [TEXT],
    "unsettled": [TEXT],
    "removable": [TEXT],
    "kept": {ANY: TEXT},
    "?identity": {},
}
_WRONG = "not the evidence of a ledger"


def read_evidence(document: Any) -> Evidence:
    """Evidence of a decoded document; SnapshotError for one of another version or shape."""
    if not isinstance(document, Mapping):
        raise SnapshotError(f"{_WRONG}: it is not a mapping")
    if document.get("schema") != SCHEMA:
        raise SnapshotError(f"ledger evidence of schema {document.get('schema')!r}, this version reads {SCHEMA}")
    defect = first_difference(document, _EVIDENCE)
    if defect:
        raise SnapshotError(f"{_WRONG}: {defect}")
    if document.get("snapshot") is not None:
        checked_snapshot(document["snapshot"], f"{_WRONG}: its snapshot")
    try:
        return _evidence(document)
    except (KeyError, TypeError, ValueError) as error:
        raise SnapshotError(f"{_WRONG}: {type(error).__name__}: {error}") from error


def _evidence(document: Mapping[str, Any]) -> Evidence:
    return Evidence(
        targets=tuple(_target(each) for each in document["targets"]),
        slices=document["slices"],
        qos=document["qos"],
        without_ledger=tuple(
            Earlier(each["id"], each["backups"], tuple(each["files"])) for each in document["without_ledger"]
        ),
        open=(*document["unfinished"], *document["unsettled"]),
        removable=tuple(document["removable"]),
        kept=document["kept"],
        snapshot=document["snapshot"],
        identity=document.get("identity", {}),
    )


def _target(entry: Mapping[str, Any]) -> Target:
    return Target(
        path=entry["path"],
        section=entry["section"],
        checkpoint=entry["kind"] == "checkpoint",
        original=_content(entry["original"]),
        committed=_content(entry["committed"]),
        found=_content(entry["found"]),
        standing=Standing(entry["standing"]),
        original_file=entry["original_file"],
        last=entry["last"],
        earlier=tuple(Earlier(each["id"], each["backups"]) for each in entry["earlier"]),
        error=entry["error"],
    )


def _content(entry: Mapping[str, Any] | None) -> Content | None:
    return None if entry is None else Content(entry["text"], entry["mode"], entry["owner"], entry["xattrs"])
