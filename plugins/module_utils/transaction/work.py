# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One transaction in progress."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Callable

from .gate import Restarts
from .journal import Journal
from .node import Node
from .plan import Plan
from .store import Store

Report = Callable[[str], None]


def go_on() -> None:
    """Nobody asks the process to end."""


@dataclass
class Work:
    """What the steps share. After a crash it is made again from the journal, with a plan without file contents."""

    node: Node
    store: Store
    report: Report
    heed: Callable[[], None] = go_on
    plan: Plan = field(init=False)
    journal: Journal = field(init=False)
    kubelet_restarted: float | None = None
    runtime_restarted: float | None = None
    """When, in seconds since 1970; None when it was not."""

    @property
    def restarted(self) -> Restarts:
        return Restarts(self.kubelet_restarted, self.runtime_restarted)

    @property
    def backups(self) -> str:
        """Path on this machine of the folder of backups."""
        return self.store.path(self.journal.id, "backups")
