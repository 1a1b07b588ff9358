# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Prometheus knows about the load of Nodes, by the queries of Volcano's scheduler.

volcano pkg/scheduler/metrics/source/metrics_client_prometheus.go asks for one Node at a time, with its name as the
label ``instance``. Each of these queries asks for all values of the label.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

_IDLE = 'node_cpu_seconds_total{mode="idle"}'
WINDOW = 15 * 60
"""Seconds on which the CPU usage depends: an average over ten minutes of rates over five minutes."""
STEP = 30
"""Seconds between two values of the average."""

NOW = "vector(time())"
CURRENT = f"count by (instance) ({_IDLE})"
FIRST = f"min by (instance) (min_over_time(timestamp({_IDLE})[{WINDOW}s:{STEP}s]))"
LAST = f"max by (instance) (max_over_time(timestamp({_IDLE})[{WINDOW}s:{STEP}s]))"
CPU = f"avg_over_time(clamp_min(100 - (avg by (instance) (rate({_IDLE}[5m])) * 100), 0)[10m:{STEP}s])"
MEMORY = f"100*avg_over_time(((1-node_memory_MemAvailable_bytes/node_memory_MemTotal_bytes))[10m:{STEP}s])"
QUERIES = (NOW, CURRENT, FIRST, LAST, CPU, MEMORY)

Ask = Callable[[str], Any]
"""Sends an instant query; the ``data`` of the response."""


class NoUsageData(Exception):
    """The source of metrics does not answer as Prometheus does; the message says why."""


@dataclass(frozen=True)
class UsageData:
    """Prometheus' time, and its data by the values of the label ``instance``.

    ``current``: those with a sample of the CPUs now. ``first`` and ``last``: the times of their first and last one in
    ``WINDOW``. ``cpu`` and ``memory``: the values that the scheduler reads, in percent, one for each series.
    """

    now: float
    current: frozenset[str] = frozenset()
    first: Mapping[str, float] = field(default_factory=dict)
    last: Mapping[str, float] = field(default_factory=dict)
    cpu: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    memory: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    @property
    def instances(self) -> frozenset[str]:
        """All values of the label for which the scheduler would read something."""
        return (frozenset(self.cpu) | frozenset(self.memory)) - {""}


def read_usage(ask: Ask) -> UsageData:
    """The data of all Nodes, in six queries; NoUsageData unless Prometheus answers each."""
    answers = {query: _by_instance(ask(query)) for query in QUERIES}
    times = answers[NOW].get("")
    if not times:
        raise NoUsageData("it answers the query for its time with nothing")
    return UsageData(
        times[0],
        frozenset(answers[CURRENT]),
        _only(answers[FIRST]),
        _only(answers[LAST]),
        answers[CPU],
        answers[MEMORY],
    )


def parse_response(document: Any) -> Any:
    """The ``data`` of a response of Prometheus' HTTP API; NoUsageData with its error message."""
    if not isinstance(document, Mapping) or document.get("status") not in ("success", "error"):
        raise NoUsageData("it does not answer as Prometheus does")
    if document["status"] == "error":
        raise NoUsageData(f"it answers with an error: {document.get('error') or 'no reason given'}")
    return document.get("data")


def _by_instance(data: Any) -> dict[str, tuple[float, ...]]:
    """The values of an instant vector by the label ``instance``, '' without one, each in ascending order."""
    try:
        values: dict[str, list[float]] = {}
        for row in data["result"]:
            values.setdefault(str(row["metric"].get("instance", "")), []).append(float(row["value"][1]))
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        raise NoUsageData("it does not answer as Prometheus does") from None
    return {name: tuple(sorted(rows)) for name, rows in values.items()}


def _only(values: Mapping[str, Iterable[float]]) -> dict[str, float]:
    return {name: next(iter(rows)) for name, rows in values.items()}
