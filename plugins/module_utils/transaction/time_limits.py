# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long an engine may work before systemd ends it. The controller waits longer than that, and not for ever."""

from __future__ import annotations

ROLLBACK_GATES = 2
"""Time limits of the gate to wait for the old state: nothing is left to be tried after it, and slow is not broken."""
GATES = 1 + ROLLBACK_GATES
MARGIN = 1800.0
"""Seconds beside the time limits of the gates after which systemd ends an engine that hangs."""
STOP_TIMEOUT = 900
"""Seconds that an engine has for undoing when it is asked to end; then systemd kills it."""


def run_time(gate_timeout: float) -> float:
    """Seconds after which systemd asks the engine to end."""
    return GATES * gate_timeout + MARGIN


def life_time(gate_timeout: float) -> float:
    """Seconds after which no engine is there any more that was started once."""
    return run_time(gate_timeout) + STOP_TIMEOUT
