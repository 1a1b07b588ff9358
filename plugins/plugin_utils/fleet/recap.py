# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The recap of a run: hosts with the same result are one group, the worst first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..report.host_groups import LimitOption
from ..report.readable_numbers import count_hosts
from .task_tally import Line, Outcome

COUNTERS = ("ok", "changed", "unreachable", "failures", "skipped", "rescued", "ignored")
"""Counters of ansible-core's statistics of a host, in the order of its own recap."""
_LABELS = {"failures": "failed"}

Counters = Mapping[str, int]


def host_outcome(counters: Counters) -> Outcome:
    """The result of a host in the whole run."""
    if counters["unreachable"]:
        return Outcome.UNREACHABLE
    if counters["failures"]:
        return Outcome.FAILED
    return Outcome.CHANGED if counters["changed"] else Outcome.OK


def render_recap(counters: Mapping[str, Counters], limit: LimitOption) -> Iterator[Line]:
    """Two lines for each result: the number of hosts with the range of each counter, and the hosts."""
    for outcome in Outcome:
        hosts = [host for host, values in counters.items() if host_outcome(values) is outcome]
        if hosts:
            ranges = " ".join(_range(name, [counters[host][name] for host in hosts]) for name in COUNTERS)
            yield Line(f"{count_hosts(len(hosts)):>9} {outcome.value:12} : {ranges}", outcome)
            option = limit(f"{outcome.value}-hosts", hosts)
            if option:
                yield Line(f"{'':10}{option}", outcome)


def _range(name: str, values: Sequence[int]) -> str:
    low, high = min(values), max(values)
    return f"{_LABELS.get(name, name)}={low if low == high else f'{low}-{high}'}"
