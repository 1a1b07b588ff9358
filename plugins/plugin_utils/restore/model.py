# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ledger as the node tells it, and what a restore consists of."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from ..plan.model import Need

SCHEMA = 1
KUBELET, RUNTIME, SYSCTL, SLICES, QOS = "kubelet", "runtime", "sysctl", "slices", "qos"
SECTIONS = (KUBELET, RUNTIME, SYSCTL, SLICES, QOS)
FILE_SECTIONS = (KUBELET, RUNTIME, SYSCTL)


class Standing(str, Enum):
    """What lies at a path: module_utils/state/ledger.py."""

    ORIGINAL = "original"
    COMMITTED = "committed"
    FOREIGN = "foreign"


@dataclass(frozen=True)
class Content:
    """A file: its text, which may hold secrets, and what it is beside it."""

    text: str = field(repr=False)
    mode: str
    owner: str
    xattrs: Mapping[str, str]

    @property
    def attributes(self) -> dict[str, Any]:
        return {"mode": self.mode, "owner": self.owner, "xattrs": dict(self.xattrs)}

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode("utf-8", "surrogateescape")).hexdigest()


@dataclass(frozen=True)
class Earlier:
    """A transaction that changed something and is in no ledger: of a version without one, or not undone entirely."""

    id: str
    backups: str
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class Target:
    """One path of the ledger; None in the place of a content means that there was, or is, no file."""

    path: str
    section: str
    checkpoint: bool
    original: Content | None
    committed: Content | None
    found: Content | None
    standing: Standing
    original_file: str
    last: str
    earlier: tuple[Earlier, ...] = ()
    error: str | None = None


@dataclass(frozen=True)
class Evidence:
    """Everything that module_utils/restore/restorable.py tells; ``slices`` and ``qos`` as they are described there."""

    targets: tuple[Target, ...]
    slices: Mapping[str, Any]
    qos: Mapping[str, Any]
    without_ledger: tuple[Earlier, ...]
    open: tuple[str, ...]
    removable: tuple[str, ...]
    kept: Mapping[str, str]
    snapshot: Mapping[str, Any] | None
    identity: Mapping[str, Any] = field(default_factory=dict)

    def holds(self, section: str) -> bool:
        """Whether anything of a section could be put back."""
        if section == SLICES:
            return bool(self.slices["slices"] or self.slices["strays"])
        if section == QOS:
            return bool(self.qos["changed"] or self.qos["error"])
        return any(target.section == section for target in self.targets)


@dataclass(frozen=True)
class Conflict:
    """Why a section cannot be put back; ``diff`` is redacted."""

    section: str
    target: str
    reason: str
    remedy: str
    diff: str = ""

    def __str__(self) -> str:
        told = f"{self.section}: {self.target}: {self.reason.rstrip('.')}. {self.remedy}"
        return f"{told}\n{self.diff}" if self.diff else told


@dataclass(frozen=True)
class Change:
    """One thing that is put back."""

    section: str
    target: str
    action: str
    reason: str
    needs: frozenset[Need] = frozenset()

    def published(self) -> dict[str, Any]:
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
