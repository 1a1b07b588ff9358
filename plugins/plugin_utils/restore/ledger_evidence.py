# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The checked ledger evidence of a node, and the parts of a restore plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from ..facts.interpreter import SnapshotError
from ..node.evidence_schema import ANY, NOTHING, SWITCH, TEXT, checked_snapshot, first_schema_error, shape_error
from ..plan.change_set import Impact
from ..plan.file_edits import text_sha256

SCHEMA = 1
KUBELET, RUNTIME, SYSCTL, SLICES, QOS = "kubelet", "runtime", "sysctl", "slices", "qos"
SECTIONS = (KUBELET, RUNTIME, SYSCTL, SLICES, QOS)
FILE_SECTIONS = (KUBELET, RUNTIME, SYSCTL)


class FileStatus(str, Enum):
    """The status of a path, as in module_utils/state/ledger.py."""

    ORIGINAL = "original"
    COMMITTED = "committed"
    FOREIGN = "foreign"


@dataclass(frozen=True)
class Content:
    """A file: its text, which may contain secrets, and its attributes."""

    text: str = field(repr=False)
    mode: str
    owner: str
    xattrs: Mapping[str, str]

    @property
    def attributes(self) -> dict[str, Any]:
        return {"mode": self.mode, "owner": self.owner, "xattrs": dict(self.xattrs)}

    @property
    def sha256(self) -> str:
        return text_sha256(self.text)


@dataclass(frozen=True)
class UnrecordedTransaction:
    """A transaction with changes outside the ledger: of a version without one, or with a failed roll-back."""

    id: str
    backups: str
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class Target:
    """One path of the ledger. A content is None if the file did not or does not exist."""

    path: str
    section: str
    checkpoint: bool
    original: Content | None
    committed: Content | None
    current: Content | None
    status: FileStatus
    original_file: str
    last: str
    earlier: tuple[UnrecordedTransaction, ...] = ()
    error: str | None = None


@dataclass(frozen=True)
class Evidence:
    """The evidence of module_utils/restore/restorable.py; ``slices`` and ``qos`` have the form of that module."""

    targets: tuple[Target, ...]
    slices: Mapping[str, Any]
    qos: Mapping[str, Any]
    without_ledger: tuple[UnrecordedTransaction, ...]
    open: tuple[str, ...]
    removable: tuple[str, ...]
    preserved: Mapping[str, str]
    snapshot: Mapping[str, Any] | None
    identity: Mapping[str, Any] = field(default_factory=dict)

    def holds(self, section: str) -> bool:
        """Whether a section has anything to restore."""
        if section == SLICES:
            return bool(self.slices["slices"] or self.slices["strays"])
        if section == QOS:
            return bool(self.qos["changed"] or self.qos["error"])
        return any(target.section == section for target in self.targets)


@dataclass(frozen=True)
class Conflict:
    """Why a section cannot be restored; ``diff`` is redacted."""

    section: str
    target: str
    reason: str
    remedy: str
    diff: str = ""

    def __str__(self) -> str:
        message = f"{self.section}: {self.target}: {self.reason.rstrip('.')}. {self.remedy}"
        return f"{message}\n{self.diff}" if self.diff else message


@dataclass(frozen=True)
class RestoreChange:
    """One restored path, slice or setting."""

    section: str
    target: str
    action: str
    reason: str
    needs: frozenset[Impact] = frozenset()

    def to_result(self) -> dict[str, Any]:
        needs = sorted(need.value for need in self.needs)
        return {
            "section": self.section,
            "target": self.target,
            "action": self.action,
            "reason": self.reason,
            "impact": needs,
        }

    def __str__(self) -> str:
        return f"{self.section} {self.target}: {self.action}, {self.reason}"


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
_INVALID = "not the evidence of a ledger"


def read_evidence(document: Any) -> Evidence:
    """Evidence of a decoded document; SnapshotError if its version or schema differs."""
    if not isinstance(document, Mapping):
        raise SnapshotError(f"{_INVALID}: it is not a mapping")
    if document.get("schema") != SCHEMA:
        raise SnapshotError(f"ledger evidence of schema {document.get('schema')!r}, this version reads {SCHEMA}")
    defect = first_schema_error(document, _EVIDENCE)
    if defect:
        raise SnapshotError(f"{_INVALID}: {defect}")
    if document.get("snapshot") is not None:
        checked_snapshot(document["snapshot"], f"{_INVALID}: its snapshot")
    try:
        return _evidence(document)
    except (KeyError, TypeError, ValueError) as error:
        raise SnapshotError(f"{_INVALID}: {shape_error(error)}") from error


def _evidence(document: Mapping[str, Any]) -> Evidence:
    return Evidence(
        targets=tuple(_target(entry) for entry in document["targets"]),
        slices=document["slices"],
        qos=document["qos"],
        without_ledger=tuple(
            UnrecordedTransaction(entry["id"], entry["backups"], tuple(entry["files"]))
            for entry in document["without_ledger"]
        ),
        open=(*document["unfinished"], *document["unsettled"]),
        removable=tuple(document["removable"]),
        preserved=document["kept"],
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
        current=_content(entry["found"]),
        status=FileStatus(entry["standing"]),
        original_file=entry["original_file"],
        last=entry["last"],
        earlier=tuple(UnrecordedTransaction(earlier["id"], earlier["backups"]) for earlier in entry["earlier"]),
        error=entry["error"],
    )


def _content(entry: Mapping[str, Any] | None) -> Content | None:
    return None if entry is None else Content(entry["text"], entry["mode"], entry["owner"], entry["xattrs"])
