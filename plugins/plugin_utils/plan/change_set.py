# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of a plan. ``changed``, the diff, the preflight and the transaction all derive from one plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from ..profile.option_names import variable_of


class Impact(str, Enum):
    """What a change requires to take effect."""

    RESTART_KUBELET = "restart kubelet"
    RESTART_RUNTIME = "restart runtime"
    DRAIN = "drain"


@dataclass(frozen=True)
class Change:
    """A setting that differs. It is written to ``keys`` in ``path``; without a path only a restart is missing."""

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
    """Why a node is not changed, and what to do about it."""

    code: str
    message: str
    remedy: str
    file: str | None = None
    line: int | None = None
    variable: str | None = None

    @property
    def reason(self) -> str:
        """``file:line (variable): message``, or ``variable: message``, as far as they are known."""
        place = self.file or ""
        if self.line is not None:
            place += f":{self.line}"
        variables = ", ".join(map(variable_of, (self.variable or "").split(", "))) if self.variable else ""
        if place and variables:
            place += f" ({variables})"
        place = place or variables
        return f"{place}: {self.message}" if place else self.message

    def __str__(self) -> str:
        return f"{self.reason}. {self.remedy}"


@dataclass(frozen=True)
class Unsupported:
    """A requested setting that this node does not support and that the user allowed to skip."""

    setting: str
    reason: str

    def __str__(self) -> str:
        return f"{variable_of(self.setting)}: {self.reason}"


@dataclass(frozen=True)
class OwnerInstructions:
    """Settings for the owner of generated files: inventory variables, or texts by the name of their location."""

    owner: str
    regenerated_files: tuple[str, ...]
    note: str
    variables: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """``strategy`` and ``paths`` locate kubelet's settings; ``owners`` has the settings for owners of generated files.

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
        """Everything that prevents the changes from being applied."""
        return (*self.refusals, *((self.permission,) if self.permission else ()))

    @property
    def needs(self) -> frozenset[Impact]:
        """What all changes together require."""
        needs: frozenset[Impact] = frozenset().union(*(change.needs for change in self.changes))
        # Sandboxes are stopped only while kubelet is stopped: a running kubelet re-creates them immediately.
        return needs | {Impact.RESTART_KUBELET} if Impact.DRAIN in needs else needs
