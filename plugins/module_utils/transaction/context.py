# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A running transaction: the data that its steps share, its time limits, and the result of a refused transaction."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable

from ..cri.node_access import Node
from ..errors import ColocationError
from ..health.gate import Restarts
from ..state.files import file_error
from ..state.journal import Journal
from ..state.plan_document import Plan
from ..state.store import STATE_DIRECTORY, Store

Report = Callable[[str], None]

ROLLBACK_GATES = 2
"""Gate timeouts to wait for the old state after a roll-back: it is the last attempt, and the node may be slow."""
GATES = 1 + ROLLBACK_GATES
MARGIN = 1800.0
"""Seconds in addition to the gate timeouts after which systemd stops a hanging engine."""
STOP_TIMEOUT = 900
"""Seconds that an engine has for the roll-back after a stop request; then systemd kills it."""


def never_cancelled() -> None:
    """The cancellation check of a process that cannot be cancelled."""


@dataclass
class TransactionContext:
    """Data that the steps share. After a crash it is rebuilt from the journal, with a plan without file contents."""

    node: Node
    store: Store
    report: Report
    check_cancelled: Callable[[], None] = never_cancelled
    plan: Plan = field(init=False)
    journal: Journal = field(init=False)
    kubelet_restarted: float | None = None
    runtime_restarted: float | None = None
    """Time of the restart in seconds since 1970; None if it was not restarted."""

    @property
    def restarted(self) -> Restarts:
        return Restarts(self.kubelet_restarted, self.runtime_restarted)

    @property
    def backups(self) -> str:
        """Path on this machine of the directory of backups."""
        return self.store.path(self.journal.id, "backups")


def run_time(gate_timeout: float) -> float:
    """Seconds after which systemd asks the engine to end."""
    return GATES * gate_timeout + MARGIN


def life_time(gate_timeout: float) -> float:
    """Seconds after which an engine has ended in any case. The controller waits a limited time longer."""
    return run_time(gate_timeout) + STOP_TIMEOUT


def error_message(error: Exception) -> str:
    """The message of an error. For an unexpected error only its type, because its text may quote secrets."""
    if isinstance(error, ColocationError):
        return str(error)
    if isinstance(error, OSError):
        return str(file_error(error, str(error.filename or STATE_DIRECTORY), "use it"))
    return f"unexpected {type(error).__name__}"


def refusal_result(transaction: str, step: str, error: Exception, recovered: dict[str, Any] | None) -> dict[str, Any]:
    """The result of a refusal. ``recovered``: id and final state of a transaction that was rolled back first."""
    node = "nothing was changed"
    if recovered is not None:
        node = f"the unfinished transaction {recovered['id']} was rolled back; nothing else was changed"
    return {
        "id": transaction,
        "state": "refused",
        "step": step,
        "steps": [],
        "error": {"step": step, "message": error_message(error), "node": node},
        "gate": [],
        "recovered": recovered,
    }
