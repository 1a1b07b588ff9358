# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The explicit settings of a request as neutral values.

Percentages and device names are resolved on this node; settings of one cgroup that contradict each other are found
before anything is written.
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
    """Why these neutral values cannot stand together on one cgroup; empty when they can.

    ``period`` is the one in force, in microseconds, for a quota without a cpu_period beside it.
    """
    found = [_idle(values), _burst(values, period), *_memory_conflicts(values)]
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
    """What percents are a part of; None: of the node."""

    cpus: float | None = None
    memory: int | None = None


def capacity(host: Host, limits: Limits, settings: Mapping[str, Any]) -> Capacity:
    """The node's, as far as the options do not say it and a percent asks for it."""
    relative = any(isinstance(value, str) and value.strip().endswith("%") for value in settings.values())
    cpus, memory = limits.cpus, limits.memory
    if relative and cpus is None:
        cpus = float(_count_online_cpus(host))
    if relative and memory is None:
        memory = _memory(host)
    return Capacity(cpus or 0.0, memory or 0, _devices(host, settings.values()))


def parse_settings(host: Host, settings: Mapping[str, Any], state: State, limits: Limits) -> dict[str, Value]:
    """Neutral values by knob; ColocationError that names the knob, its unit and its range, or a contradiction."""
    total = capacity(host, limits, settings)
    period = _period(settings, state, total)
    values = {name: parse_value(knob_of(name), value, total, period) for name, value in settings.items()}
    contradiction = find_conflict(values, period)
    if contradiction:
        raise ColocationError(f"{state.target.cgroup}: {contradiction}", "Change one of them, or leave it out")
    return values


def _period(settings: Mapping[str, Any], state: State, total: Capacity) -> int:
    """The period that the cgroup will have: a quota in microseconds is a part of it."""
    knob = knob_of("cpu_period")
    if "cpu_period" in settings:
        found = parse_value(knob, settings["cpu_period"], total)
    elif state.has(knob):
        found = parse_texts(knob, state.mode, state.texts)
    else:
        found = PERIOD
    return found if isinstance(found, int) else PERIOD


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
        "it is not what the kernel writes, so that it is not known what a percent is a part of",
        f"Say with the option {option}",
        path,
    )


def _read(host: Host, path: str, option: str) -> str:
    try:
        return host.read(path)
    except OSError as error:
        raise ColocationError(
            f"cannot be read, so that it is not known what a percent is a part of: {error.strerror or error}",
            f"Say with the option {option}",
            path,
        ) from error


def _devices(host: Host, values: Iterable[Any]) -> dict[str, str]:
    """MAJOR:MINOR of each block device that a value names by its path."""
    return {path: _number(host, path) for value in values for path in device_paths(value)}


def _number(host: Host, path: str) -> str:
    try:
        found = host.stat(path)
    except OSError as error:
        raise ColocationError(f"there is no such device: {error.strerror}", "See lsblk on the node", path) from error
    if not stat.S_ISBLK(found.st_mode):
        raise ColocationError("it is no block device", "See lsblk on the node", path)
    return f"{os.major(found.st_rdev)}:{os.minor(found.st_rdev)}"
