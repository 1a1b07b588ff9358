# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a plan consists of. One plan gives ``changed``, the diff, the preflight and the transaction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Impact(str, Enum):
    """What a change takes to come into force."""

    RESTART_KUBELET = "restart kubelet"
    RESTART_RUNTIME = "restart runtime"
    DRAIN = "drain"


@dataclass(frozen=True)
class Change:
    """A setting that differs. ``path`` and ``keys`` say where it is written; without them only a restart is missing."""

    target: str
    setting: str
    before: Any
    after: Any
    reason: str
    needs: frozenset[Impact]
    path: str | None = None
    keys: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.path is None:
            return f"{self.target}: {self.reason}"
        if self.after is None:
            return f"{self.target} {self.setting}: removed from {self.path}, {self.reason}"
        before = "unset" if self.before is None else self.before
        return f"{self.target} {self.setting}: {before} -> {self.after}"


@dataclass(frozen=True)
class Refusal:
    """Why a node is not touched, and what to do about it."""

    code: str
    message: str
    remedy: str
    file: str | None = None
    line: int | None = None
    variable: str | None = None

    @property
    def reason(self) -> str:
        """``file:line (variable): message``, each as far as it is known."""
        place = self.file or ""
        if self.line is not None:
            place += f":{self.line}"
        if self.variable:
            place += f"{' ' if place else ''}({self.variable})"
        return f"{place + ': ' if place else ''}{self.message}"

    def __str__(self) -> str:
        return f"{self.reason}. {self.remedy}"


@dataclass(frozen=True)
class Unsupported:
    """Something asked for that this node cannot have, left out because the user said so."""

    setting: str
    reason: str


@dataclass(frozen=True)
class OwnerInstructions:
    """What the owner of some files has to be told: inventory variables, or texts by the name of their place."""

    owner: str
    files_made_anew: tuple[str, ...]
    note: str
    variables: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """``strategy`` and ``paths`` say where kubelet's settings are kept; ``owners`` what the owners of files must set.

    ``permission``: why ``changes`` must not be applied yet, and which option allows them.
    """

    changes: tuple[Change, ...] = ()
    pending: tuple[Change, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    permission: Refusal | None = None
    skipped: tuple[Unsupported, ...] = ()
    strategy: str | None = None
    paths: tuple[str, ...] = ()
    owners: tuple[OwnerInstructions, ...] = ()

    @property
    def obstacles(self) -> tuple[Refusal, ...]:
        """All that keeps the changes from being applied."""
        return (*self.refusals, *((self.permission,) if self.permission else ()))

    @property
    def needs(self) -> frozenset[Impact]:
        """All that the changes need together."""
        needs: frozenset[Impact] = frozenset().union(*(change.needs for change in self.changes))
        # Sandboxes are stopped under a stopped kubelet only: a running one makes them anew at once.
        return needs | {Impact.RESTART_KUBELET} if Impact.DRAIN in needs else needs
