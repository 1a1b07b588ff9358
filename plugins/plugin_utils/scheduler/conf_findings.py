# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What contradicts itself in the scheduler's configuration, and in what queues and watermarks expect of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from ..rules.rule_types import Effect, Finding, Severity
from .installed_volcano import FIRST_AGENT, is_known_release
from .target_spec import Watermarks
from .volcano_conf import KNOWN_ACTIONS, NEEDED_ACTIONS, USAGE_PLUGIN, Usage, list_plugins, parse_actions, plugins_named

METRICS = ("prometheus", "prometheus_adaptor", "elasticsearch")
"""volcano pkg/scheduler/metrics/source/metrics_client.go, NewMetricsClient."""
QUEUE_PLUGINS = ("capacity", "proportion")


def lint(place: str, document: Mapping[str, Any]) -> tuple[Finding, ...]:
    """What a configuration says against itself; ``place`` is how messages name it."""
    rules = (_unknown_actions, _enqueue, _hierarchy, _two_owners, _twice, _usage, _metrics, _reclaim)
    return tuple(found for rule in rules for found in rule(place, document))


def _unknown_actions(place: str, document: Mapping[str, Any]) -> Iterator[Finding]:
    """pkg/scheduler/util.go: one action that is not found, and the whole configuration is not taken."""
    unknown = [name for name in parse_actions(document.get("actions")) if name not in KNOWN_ACTIONS]
    if unknown:
        yield Finding(
            "scheduler-action-unknown",
            Severity.ERROR,
            Effect.NONE,
            f"{place} names an action that Volcano does not have; its scheduler takes none of the configuration then.",
            tuple(unknown),
            f"Take it out of actions, or name it as upstream does: {', '.join(KNOWN_ACTIONS)}.",
        )


def _enqueue(place: str, document: Mapping[str, Any]) -> Iterator[Finding]:
    """preempt passes over jobs that are pending (actions/preempt/preempt.go), and a full cluster enqueues none."""
    actions = parse_actions(document.get("actions"))
    if "enqueue" in actions and "preempt" in actions:
        yield Finding(
            "scheduler-enqueue-blocks-preempt",
            Severity.WARNING,
            Effect.NONE,
            f"{place} has the action enqueue, which lets no job in that has no room; preempt never sees those jobs.",
            (f"actions = {', '.join(actions)}",),
            "Take enqueue out (colocation_scheduler_dropped_actions: [enqueue]), unless jobs are to wait outside.",
        )


def _hierarchy(place: str, document: Mapping[str, Any]) -> Iterator[Finding]:
    """pkg/scheduler/util.go: "proportion and drf with hierarchy enabled conflicts" in one tier, nothing is taken."""
    for each in plugins_named(document, "drf"):
        if each.settings.get("enableHierarchy") is True and each.tier in _tiers(document, "proportion"):
            yield Finding(
                "scheduler-hierarchy-conflict",
                Severity.ERROR,
                Effect.NONE,
                f"{place} has drf with enableHierarchy and proportion in one tier; the scheduler takes none of it.",
                (f"tier {each.tier + 1}: drf with enableHierarchy, proportion",),
                "Set enableHierarchy to false, or take proportion out.",
            )


def _two_owners(place: str, document: Mapping[str, Any]) -> Iterator[Finding]:
    if all(plugins_named(document, name) for name in QUEUE_PLUGINS):
        yield Finding(
            "scheduler-two-queue-plugins",
            Severity.ERROR,
            Effect.NONE,
            f"{place} has both capacity and proportion, which share out the same queues by different rules.",
            tuple(
                f"tier {each.tier + 1}: {each.name}" for name in QUEUE_PLUGINS for each in plugins_named(document, name)
            ),
            "Keep capacity for queues with deserved or a parent, proportion for queues with weights.",
        )


def _twice(place: str, document: Mapping[str, Any]) -> Iterator[Finding]:
    """pkg/scheduler/framework/framework.go, OpenSession: plugins are kept by name, and the last one is asked."""
    counted = Counter(each.name for each in list_plugins(document))
    twice = tuple(name for name, count in counted.items() if count > 1)
    if twice:
        yield Finding(
            "scheduler-plugin-twice",
            Severity.WARNING,
            Effect.NONE,
            f"{place} has a plugin more than once; the arguments of the last one hold for all of them.",
            twice,
            "Keep one of each.",
        )


def _percentage(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 100


def _usage(place: str, document: Mapping[str, Any]) -> Iterator[Finding]:
    """pkg/scheduler/plugins/usage/usage.go: what is no Go int counts as 0, and no node is below that."""
    for each in plugins_named(document, USAGE_PLUGIN):
        arguments = each.settings.get("arguments")
        thresholds = arguments.get("thresholds") if isinstance(arguments, dict) else None
        given = thresholds if isinstance(thresholds, dict) else {}
        known = {name: value for name, value in given.items() if name in ("cpu", "mem")}
        wrong = {name: value for name, value in known.items() if not _percentage(value)}
        if wrong:
            yield Finding(
                "scheduler-usage-threshold-invalid",
                Severity.ERROR,
                Effect.NONE,
                f"{place} has a threshold of the plugin usage that is no whole percentage; it is read as 0.",
                tuple(f"{name} = {value!r}" for name, value in wrong.items()),
                "Write it as a number from 0 to 100, without quotes (colocation_scheduler_usage).",
            )


def _metrics(place: str, document: Mapping[str, Any]) -> Iterator[Finding]:
    """usage.go: without metrics of the last five minutes every node passes and gets no points."""
    if not plugins_named(document, USAGE_PLUGIN):
        return
    metrics = document.get("metrics")
    found: Mapping[str, Any] = metrics if isinstance(metrics, dict) else {}
    kind, address = found.get("type"), found.get("address")
    lacks = []
    if kind not in METRICS:
        lacks.append(f"metrics.type = {kind}")
    if kind != "prometheus_adaptor" and not address:
        lacks.append("metrics.address is not set")
    if lacks:
        yield Finding(
            "scheduler-usage-without-metrics",
            Severity.ERROR,
            Effect.NONE,
            f"{place} has the plugin usage and no source of metrics it could read; load does not count then.",
            tuple(lacks),
            f"Set colocation_scheduler_metrics: one of {', '.join(METRICS)}; all but the adaptor need an address.",
        )


def _reclaim(place: str, document: Mapping[str, Any]) -> Iterator[Finding]:
    """Only these two say what a queue has too much of (plugins/capacity, plugins/proportion: ReclaimableFn)."""
    if "reclaim" in parse_actions(document.get("actions")) and not any(
        plugins_named(document, name) for name in QUEUE_PLUGINS
    ):
        yield Finding(
            "scheduler-reclaim-without-queue-plugin",
            Severity.WARNING,
            Effect.NONE,
            f"{place} has the action reclaim and no plugin that says what a queue has too much of.",
            ("neither capacity nor proportion",),
            "Add capacity or proportion, or take reclaim out.",
        )


def release(found: tuple[int, int] | None, image: str) -> tuple[Finding, ...]:
    """A scheduler of which nobody can say that it knows all this."""
    if is_known_release(found):
        return ()
    first = ".".join(map(str, FIRST_AGENT))
    told = f"is older than {first}, the first with an agent" if found else "cannot be told from its image's tag"
    return (
        Finding(
            "scheduler-release-unknown",
            Severity.WARNING,
            Effect.NONE,
            f"The scheduler's release {told}; what is said here of its configuration may not hold for it.",
            (f"image {image}",),
            f"Run a scheduler of Volcano {first} or newer, with its release as the image's tag.",
        ),
    )


def above_watermarks(usage: Usage | None, watermarks: Watermarks | None) -> tuple[Finding, ...]:
    """Nodes that still get pods while their agent evicts."""
    if usage is None or watermarks is None:
        return ()
    pairs = (("CPU", usage.cpu, watermarks.cpu_high), ("memory", usage.memory, watermarks.memory_high))
    above = tuple(f"{name}: threshold {own}, watermark {high}" for name, own, high in pairs if own > high)
    if not above:
        return ()
    return (
        Finding(
            "scheduler-threshold-above-watermark",
            Severity.WARNING,
            Effect.NONE,
            "The scheduler still gives pods to nodes whose agent already evicts.",
            above,
            "Set colocation_scheduler_usage below the watermark of eviction.",
        ),
    )


def _tiers(document: Mapping[str, Any], name: str) -> frozenset[int]:
    return frozenset(each.tier for each in plugins_named(document, name))


def unheard_queues(document: Mapping[str, Any], fields: Mapping[str, tuple[str, ...]]) -> tuple[Finding, ...]:
    """Fields of queues that no plugin of this configuration looks at: ``fields`` has the queues that set each."""
    capacity = plugins_named(document, "capacity")
    flat = not any(each.settings.get("enableHierarchy") is True for each in capacity)
    lost = []
    if not capacity and "deserved" in fields:
        lost.append(("deserved", "the plugin capacity is not there"))
    if flat and "parent" in fields:
        lost.append(("parent", "the plugin capacity with enableHierarchy: true is not there"))
    if capacity and "weight" in fields:
        lost.append(("weight", "capacity shares by deserved, not by weight"))
    if "reclaim" not in parse_actions(document.get("actions")) and "reclaimable" in fields:
        lost.append(("reclaimable", "the action reclaim is not there"))
    if not lost:
        return ()
    return (
        Finding(
            "scheduler-queue-field-ignored",
            Severity.WARNING,
            Effect.NONE,
            "Queues have fields that this scheduler does not look at.",
            tuple(f"{name} of {', '.join(fields[name])}: {reason}" for name, reason in lost),
            f"Change the scheduler's plugins or actions (beside {', '.join(NEEDED_ACTIONS)}), or leave the fields out.",
        ),
    )
