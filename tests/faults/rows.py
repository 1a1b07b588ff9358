# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows: each fault on each cgroup version. One row is one injected fault."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ansible_collections.volcano.colocation.plugins.module_utils.transaction.steps import (
    HEALTH_GATE,
    START_KUBELET,
    START_RUNTIME,
    STOP_KUBELET,
    STOP_RUNTIME,
)

from .fault import Fault, Kind
from .table import FAULTS

NODES = {
    "v1": ("--suite", "bookworm", "--cgroup", "v1", "--driver-kubelet", "cgroupfs", "--driver-runtime", "cgroupfs"),
    "v2": ("--suite", "trixie", "--cgroup", "v2", "--driver-kubelet", "cgroupfs", "--driver-runtime", "cgroupfs"),
}
"""Both sides change their driver, so that every step runs, and pods run before and after."""

SHORT = (
    ("v1", Kind.POWER_CUT, START_KUBELET),
    ("v1", Kind.DISK_FULL, STOP_RUNTIME),
    ("v1", Kind.SSH_CUT, START_RUNTIME),
    ("v2", Kind.KILLED, START_KUBELET),
    ("v2", Kind.FOREIGN_EDIT, STOP_KUBELET),
    ("v2", Kind.STOPPED, HEALTH_GATE),
)
"""The shorter set, each row another kind: cgroup version, kind, and where."""


class NoSuchRow(ValueError):
    """No row matches the selection."""


@dataclass(frozen=True)
class Row:
    cgroup: str
    fault: Fault

    @property
    def name(self) -> str:
        return f"{self.cgroup}-{self.fault.name}"


ROWS = tuple(Row(cgroup, fault) for cgroup in NODES for fault in FAULTS)


def short(rows: Iterable[Row] = ROWS) -> tuple[Row, ...]:
    """The rows of the shorter set."""
    return tuple(row for row in rows if any(_is(row, *desired) for desired in SHORT))


def chosen(rows: Iterable[Row], cgroup: str | None, kinds: Iterable[Kind], names: Iterable[str]) -> tuple[Row, ...]:
    """Select rows by cgroup version, kinds and names; an empty filter selects all. NoSuchRow if none matches."""
    kinds, names = frozenset(kinds), frozenset(names)
    selected = tuple(
        row
        for row in rows
        if cgroup in (None, row.cgroup) and (not kinds or row.fault.kind in kinds) and (not names or row.name in names)
    )
    unknown = names - {row.name for row in selected}
    if unknown or not selected:
        raise NoSuchRow(f"no such row: {', '.join(sorted(unknown)) or 'no row matches'}")
    return selected


def _is(row: Row, cgroup: str, kind: Kind, where: str) -> bool:
    return (row.cgroup, row.fault.kind, row.fault.where) == (cgroup, kind, where)
