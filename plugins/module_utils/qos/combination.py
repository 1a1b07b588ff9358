# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of one cgroup that contradict each other, found before anything is written."""

from __future__ import annotations

from typing import Any, Mapping

from .forms import SECOND
from .knob import Value


def problem(values: Mapping[str, Value], period: int = 100000) -> str:
    """Why these neutral values cannot stand together on one cgroup; empty when they can.

    ``period`` is the one in force, in microseconds, for a quota without a cpu_period beside it.
    """
    found = [_idle(values), _burst(values, period), *_memory(values)]
    return "; ".join(reason for reason in found if reason)


def _idle(values: Mapping[str, Value]) -> str:
    if values.get("cpu_idle") and "cpu_weight" in values:
        return "cpu_idle is true and cpu_weight is set: an idle cgroup has no weight (kernel/sched/fair.c)"
    return ""


def _burst(values: Mapping[str, Any], period: int) -> str:
    burst = values.get("cpu_burst")
    if not burst or "cpu_quota" not in values:
        return ""
    if values["cpu_quota"] is None:
        return "cpu_burst is set and cpu_quota is max: there is nothing to burst over"
    quota = values["cpu_quota"] * values.get("cpu_period", period) // SECOND
    if burst > quota:
        return "cpu_burst is %d microseconds and the quota of a period %d: a burst is at most the quota" % (
            burst,
            quota,
        )
    return ""


def _memory(values: Mapping[str, Any]) -> list[str]:
    limit = values.get("memory_max")
    if limit is None:
        return []
    return [
        "%s is more than memory_max (%d, %d bytes)" % (name, values[name], limit)
        for name in ("memory_min", "memory_low", "memory_high")
        if isinstance(values.get(name), int) and values[name] > limit
    ]
