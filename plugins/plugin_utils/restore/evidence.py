# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading of what node_ledger tells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..facts.node import SnapshotError
from .model import SCHEMA, Content, Earlier, Evidence, Standing, Target


def read_evidence(document: Mapping[str, Any]) -> Evidence:
    """Evidence of a decoded document; SnapshotError for one of another version or shape."""
    if document.get("schema") != SCHEMA:
        raise SnapshotError(f"ledger evidence of schema {document.get('schema')!r}, this version reads {SCHEMA}")
    try:
        return _evidence(document)
    except (KeyError, TypeError, ValueError) as error:
        raise SnapshotError(f"not the evidence of a ledger: {type(error).__name__}: {error}") from error


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
