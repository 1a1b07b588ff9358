# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse the explicit settings of a request to neutral values.

Percentages and device names are resolved on this node. Conflicting settings of one cgroup are rejected before anything
is written.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import Any, Iterable, Mapping

from ..errors import ColocationError
from ..host import Host
from ..quantity import parse_cpu_list
from .cgroup_state import State
from .codec import SECOND, parse_texts
from .knob import Value
from .option_values import Capacity, device_paths, parse_value
from .registry import knob as knob_of


def find_conflict(values: Mapping[str, Value], period: int = 100000) -> str:
    """The reason why these neutral values conflict on one cgroup; empty without a conflict.

    ``period`` is the cgroup's current CPU period in microseconds, for a quota without a cpu_period.
    """
    reasons = [_idle(values), _burst(values, period), *_memory_conflicts(values)]
    return "; ".join(reason for reason in reasons if reason)


def _idle(values: Mapping[str, Value]) -> str:
    if values.get("cpu_idle") and "cpu_weight" in values:
        return "cpu_idle is true and cpu_weight is set: an idle cgroup has no weight (kernel/sched/fair.c)"
    return ""


def _burst(values: Mapping[str, Any], period: int) -> str:
    burst = values.get("cpu_burst")
    if not burst or "cpu_quota" not in values:
        return ""
    if values["cpu_quota"] is None:
        return "cpu_burst is set and cpu_quota is max: without a quota the burst has no effect"
    quota = values["cpu_quota"] * values.get("cpu_period", period) // SECOND
    if burst > quota:
        return "cpu_burst is %d microseconds and the quota of a period is %d: a burst is at most the quota" % (
            burst,
            quota,
        )
    return ""


def _memory_conflicts(values: Mapping[str, Any]) -> list[str]:
    limit = values.get("memory_max")
    if limit is None:
        return []
    return [
        "%s is more than memory_max (%d, %d bytes)" % (name, values[name], limit)
        for name in ("memory_min", "memory_low", "memory_high")
        if isinstance(values.get(name), int) and values[name] > limit
    ]


PERIOD = 100000
"""Microseconds: the kernel's default (kernel/sched/fair.c default_cfs_period)."""
ONLINE = "/sys/devices/system/cpu/online"
MEMINFO = "/proc/meminfo"


@dataclass(frozen=True)
class Limits:
    """The base of percentages; None means the capacity of the node."""

    cpus: float | None = None
    memory: int | None = None


def capacity(host: Host, limits: Limits, settings: Mapping[str, Any]) -> Capacity:
    """The base of percentages: ``limits``, otherwise the node's capacity, which is read only if a setting needs it."""
    relative = any(isinstance(value, str) and value.strip().endswith("%") for value in settings.values())
    cpus, memory = limits.cpus, limits.memory
    if relative and cpus is None:
        cpus = float(_count_online_cpus(host))
    if relative and memory is None:
        memory = _memory(host)
    return Capacity(cpus or 0.0, memory or 0, _devices(host, settings.values()))


def parse_settings(host: Host, settings: Mapping[str, Any], state: State, limits: Limits) -> dict[str, Value]:
    """Neutral values by knob; a ColocationError names the knob, its unit and its range, or a conflict."""
    total = capacity(host, limits, settings)
    period = _period(settings, state, total)
    values = {name: parse_value(knob_of(name), value, total, period) for name, value in settings.items()}
    conflict = find_conflict(values, period)
    if conflict:
        raise ColocationError(f"{state.target.cgroup}: {conflict}", "Change or remove one of them")
    return values


def _period(settings: Mapping[str, Any], state: State, total: Capacity) -> int:
    """The CPU period that the cgroup will have; a quota in microseconds is a part of it."""
    knob = knob_of("cpu_period")
    if "cpu_period" in settings:
        period = parse_value(knob, settings["cpu_period"], total)
    elif state.has(knob):
        period = parse_texts(knob, state.mode, state.texts)
    else:
        period = PERIOD
    return period if isinstance(period, int) else PERIOD


def _count_online_cpus(host: Host) -> int:
    text = _read(host, ONLINE, "cpus")
    try:
        return len(parse_cpu_list(text))
    except ValueError as error:
        raise _unexpected_text(ONLINE, "cpus") from error


def _memory(host: Host) -> int:
    lines = [line.split() for line in _read(host, MEMINFO, "memory").splitlines()]
    total = [words[1] for words in lines if words[:1] == ["MemTotal:"] and len(words) > 1]
    if not total or not total[0].isdecimal():
        raise _unexpected_text(MEMINFO, "memory")
    return int(total[0]) * 1024


def _unexpected_text(path: str, option: str) -> ColocationError:
    return ColocationError(
        "the kernel does not write this content, so the base of percentages is unknown",
        f"Set the option {option}",
        path,
    )


def _read(host: Host, path: str, option: str) -> str:
    try:
        return host.read(path)
    except OSError as error:
        raise ColocationError(
            f"cannot be read, so the base of percentages is unknown: {error.strerror or error}",
            f"Set the option {option}",
            path,
        ) from error


def _devices(host: Host, values: Iterable[Any]) -> dict[str, str]:
    """MAJOR:MINOR of each block device that a value names by its path."""
    return {path: _number(host, path) for value in values for path in device_paths(value)}


def _number(host: Host, path: str) -> str:
    try:
        status = host.stat(path)
    except OSError as error:
        raise ColocationError(f"the device does not exist: {error.strerror}", "Run lsblk on the node", path) from error
    if not stat.S_ISBLK(status.st_mode):
        raise ColocationError("it is not a block device", "Run lsblk on the node", path)
    return f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}"
