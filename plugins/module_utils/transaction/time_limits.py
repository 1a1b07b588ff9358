# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long an engine may run before systemd stops it. The controller waits a limited time longer."""

from __future__ import annotations

ROLLBACK_GATES = 2
"""Gate timeouts to wait for the old state after a roll-back: it is the last attempt, and the node may be slow."""
GATES = 1 + ROLLBACK_GATES
MARGIN = 1800.0
"""Seconds in addition to the gate timeouts after which systemd stops a hanging engine."""
STOP_TIMEOUT = 900
"""Seconds that an engine has for the roll-back after a stop request; then systemd kills it."""


def run_time(gate_timeout: float) -> float:
    """Seconds after which systemd asks the engine to end."""
    return GATES * gate_timeout + MARGIN


def life_time(gate_timeout: float) -> float:
    """Seconds after which an engine has ended in any case."""
    return run_time(gate_timeout) + STOP_TIMEOUT
