# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Findings about the load of Nodes as the scheduler reads it from Prometheus.

volcano pkg/scheduler/metrics/source/metrics_client_prometheus.go: what a query does not find stays 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone

from ...module_utils.safe_text import quote_value
from ..kube.objects import Object
from ..rules.rule_types import Effect, Finding, Severity
from .queue_starvation import LISTED, first_names
from .usage_data import STEP, WINDOW, UsageData

RELABELING = "relabel_configs: [{source_labels: [__meta_kubernetes_pod_node_name], target_label: instance}]"


@dataclass(frozen=True)
class NodeNames:
    """A Node's name, and its addresses, which include host names."""

    name: str
    addresses: frozenset[str] = frozenset()

    @classmethod
    def of(cls, node: Object) -> NodeNames:
        addresses = (node.get("status") or {}).get("addresses") or ()
        return cls(node["metadata"]["name"], frozenset(str(address.get("address")) for address in addresses))

    def is_meant(self, instance: str) -> bool:
        """Whether the label is the name or an address of this Node, with or without a port."""
        host = instance.rpartition(":")[0].strip("[]")
        return bool({instance.strip("[]"), host} & {self.name, *self.addresses})


def unreachable(address: str, reason: str) -> Finding:
    """The source of metrics does not answer."""
    return Finding(
        "scheduler-usage-source-unreachable",
        Severity.ERROR,
        Effect.NONE,
        "Prometheus does not answer; the scheduler then reads 0 % for every Node, and no threshold applies.",
        (f"{address}: {reason}",),
        "Correct the address in colocation_scheduler_metrics. A Service is asked through the API server if the address"
        " is http://NAME.NAMESPACE.svc:PORT; all others are asked from the controller.",
    )


def lint_usage(data: UsageData, nodes: Iterable[NodeNames]) -> tuple[Finding, ...]:
    """What the scheduler reads wrongly; Nodes and labels are in alphabetical order."""
    known = sorted(nodes, key=lambda node: node.name)
    rules = (_unknown_instances, _missing, _young, _stopped, _ambiguous)
    return tuple(finding for rule in rules for finding in rule(data, known))


def _unknown_instances(data: UsageData, nodes: Sequence[NodeNames]) -> Iterator[Finding]:
    without = [node for node in nodes if node.name not in data.instances]
    unknown = sorted(data.instances - {node.name for node in nodes})
    if without and unknown:
        labels = first_names([_meaning(name, without) for name in unknown])
        yield _warning(
            "scheduler-usage-instance-unknown",
            "The label instance of node_exporter's metrics is not the Node's name; the scheduler finds no data then.",
            (
                f"instance labels that are not names of Nodes: {labels}",
                f"Nodes without data: {first_names([node.name for node in without])}",
            ),
            f"Add to Prometheus' scrape job of node_exporter: {RELABELING}"
            " (with role: node, __meta_kubernetes_node_name).",
        )


def _meaning(instance: str, nodes: Iterable[NodeNames]) -> str:
    meant = next((node.name for node in nodes if node.is_meant(instance)), "")
    return f"{quote_value(instance)} ({meant})" if meant else quote_value(instance)


def _missing(data: UsageData, nodes: Sequence[NodeNames]) -> Iterator[Finding]:
    lacks: dict[str, list[str]] = {}
    for node in nodes:
        parts = [name for name, values in (("CPU", data.cpu), ("memory", data.memory)) if node.name not in values]
        if parts:
            lacks.setdefault(" and ".join(parts), []).append(node.name)
    if lacks:
        yield _warning(
            "scheduler-usage-data-missing",
            "Prometheus has no data of Nodes. The scheduler reads 0 %: they get pods first, whatever their load is.",
            tuple(f"no data of {parts}: {first_names(names)}" for parts, names in sorted(lacks.items())),
            "Run node_exporter on each Node, with the collectors cpu and meminfo, and let Prometheus scrape it with the"
            " Node's name as instance.",
        )


def _young(data: UsageData, nodes: Sequence[NodeNames]) -> Iterator[Finding]:
    """rate() divides what it finds by five minutes, also where it finds the data of one minute."""
    since = {
        node.name: data.first[node.name]
        for node in nodes
        if node.name in data.current and data.first.get(node.name, 0) > data.now - WINDOW + STEP
    }
    if since:
        rows = [
            f"{name}: data since {_clock(first)}, {_reading(data, name)} now, right from {_clock(first + WINDOW)}"
            for name, first in since.items()
        ]
        yield _warning(
            "scheduler-usage-data-young",
            "The data of Nodes are younger than 15 minutes; the scheduler takes their CPUs for busier than they are.",
            _first_rows(rows),
            "Wait until the last of these times before you rely on thresholds of the CPU.",
        )


def _stopped(data: UsageData, nodes: Sequence[NodeNames]) -> Iterator[Finding]:
    rows = [
        f"{node.name}: last data at {_clock(data.last[node.name])}, {_reading(data, node.name)} now,"
        f" no data from {_clock(data.last[node.name] + WINDOW)}"
        for node in nodes
        if node.name in data.last and node.name not in data.current
    ]
    if rows:
        yield _warning(
            "scheduler-usage-data-stopped",
            "Prometheus gets no more data of Nodes. For 15 minutes their CPUs seem busier and busier, then idle.",
            _first_rows(rows),
            "Check node_exporter on these Nodes, and the page Targets of Prometheus.",
        )


def _ambiguous(data: UsageData, nodes: Sequence[NodeNames]) -> Iterator[Finding]:
    rows = [
        f"{node.name}: {' or '.join(f'{value:.0f} %' for value in data.memory[node.name])}"
        for node in nodes
        if len(data.memory.get(node.name, ())) > 1
    ]
    if rows:
        yield _warning(
            "scheduler-usage-data-ambiguous",
            "Prometheus has the memory of Nodes more than once; the scheduler reads any one of the values.",
            _first_rows(rows),
            "Let one scrape job have the Node's name as instance, and drop the label or the series in the others.",
        )


def _warning(code: str, summary: str, evidence: tuple[str, ...], remedy: str) -> Finding:
    return Finding(code, Severity.WARNING, Effect.NONE, summary, evidence, remedy)


def _reading(data: UsageData, name: str) -> str:
    values = data.cpu.get(name)
    return f"CPU read as {values[0]:.0f} %" if values else "no CPU usage"


def _first_rows(rows: Sequence[str]) -> tuple[str, ...]:
    more = len(rows) - LISTED
    return (*rows[:LISTED], *((f"and {more} more",) if more > 0 else ()))


def _clock(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%H:%M:%S UTC")


def render_usage(data: UsageData, nodes: Iterable[NodeNames]) -> list[Mapping[str, object]]:
    """What the scheduler reads for each Node, in percent; null where it reads nothing."""
    return [
        {"name": node.name, "cpu": _first(data.cpu, node.name), "memory": _first(data.memory, node.name)}
        for node in sorted(nodes, key=lambda node: node.name)
    ]


def _first(values: Mapping[str, tuple[float, ...]], name: str) -> float | None:
    rows = values.get(name)
    return round(rows[0], 1) if rows else None
