# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The recap of a run: hosts with the same result are one group, the worst first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..report.host_groups import LimitOption
from ..report.readable_numbers import render_count
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
    """A line for each result: the number of hosts, the counters that are not 0, and the hosts."""
    for outcome in Outcome:
        hosts = [host for host, values in counters.items() if host_outcome(values) is outcome]
        if hosts:
            ranges = filter(None, (_range(name, [counters[host][name] for host in hosts]) for name in COUNTERS))
            option = limit(f"{outcome.value}-hosts", hosts)
            yield Line(
                f"{render_count(len(hosts)):>9} {outcome.value:11} : {' '.join(ranges)} {option}".rstrip(), outcome
            )


def _range(name: str, values: Sequence[int]) -> str:
    low, high = min(values), max(values)
    return f"{_LABELS.get(name, name)}={low if low == high else f'{low}-{high}'}" if high else ""
