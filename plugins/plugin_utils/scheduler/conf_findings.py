# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Findings: contradictions in the scheduler's configuration, and between it, queues and watermarks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from ...module_utils.safe_text import quote_value
from ..releases.minimum_versions import VOLCANO, VOLCANO_SCHEDULER
from ..releases.versions import Version
from ..rules.rule_types import Effect, Finding, Severity
from .installed_volcano import is_known_release
from .target_spec import Watermarks
from .volcano_conf import (
    KNOWN_ACTIONS,
    NEEDED_ACTIONS,
    QUEUE_PLUGINS,
    RECLAIM,
    USAGE_PLUGIN,
    Usage,
    list_plugins,
    parse_actions,
    plugins_named,
    split_queue_plugins,
)

METRICS = ("prometheus", "prometheus_adaptor", "elasticsearch")
"""volcano pkg/scheduler/metrics/source/metrics_client.go, NewMetricsClient."""


def lint(place: str, document: Mapping[str, Any]) -> tuple[Finding, ...]:
    """Contradictions in a configuration; ``place`` is its name in messages."""
    rules = (
        *(_unknown_actions, _enqueue, _hierarchy, _two_owners, _twice),
        *(_usage, _metrics, _binpack, _reclaim, _split_reclaim),
    )
    return tuple(finding for rule in rules for finding in rule(place, document))


def _unknown_actions(place: str, document: Mapping[str, Any]) -> Iterator[Finding]:
    """pkg/scheduler/util.go: one unknown action, and the scheduler ignores the whole configuration."""
    unknown = [name for name in parse_actions(document.get("actions")) if name not in KNOWN_ACTIONS]
    if unknown:
        yield Finding(
            "scheduler-action-unknown",
            Severity.ERROR,
            Effect.NONE,
            f"{place} has an action that Volcano does not know; its scheduler then ignores the whole configuration.",
            tuple(unknown),
            f"Remove it from actions, or use an upstream name: {', '.join(KNOWN_ACTIONS)}.",
        )


def _enqueue(place: str, document: Mapping[str, Any]) -> Iterator[Finding]:
    """preempt ignores jobs that are pending (actions/preempt/preempt.go), and a full cluster enqueues no job."""
    actions = parse_actions(document.get("actions"))
    if "enqueue" in actions and "preempt" in actions:
        yield Finding(
            "scheduler-enqueue-blocks-preempt",
            Severity.WARNING,
            Effect.NONE,
            f"{place} has the action enqueue, which keeps jobs without free resources pending; preempt ignores those.",
            (f"actions = {', '.join(actions)}",),
            "Remove enqueue (colocation_scheduler_dropped_actions: [enqueue]), unless such jobs should stay pending.",
        )


def _hierarchy(place: str, document: Mapping[str, Any]) -> Iterator[Finding]:
    """pkg/scheduler/util.go: "proportion and drf with hierarchy enabled conflicts" in one tier, and all is ignored."""
    for plugin in plugins_named(document, "drf"):
        if plugin.settings.get("enableHierarchy") is True and plugin.tier in _tiers(document, "proportion"):
            yield Finding(
                "scheduler-hierarchy-conflict",
                Severity.ERROR,
                Effect.NONE,
                f"{place} has drf with enableHierarchy and proportion in one tier; the scheduler ignores all of it.",
                (f"tier {plugin.tier + 1}: drf with enableHierarchy, proportion",),
                "Set enableHierarchy to false, or remove proportion.",
            )


def _two_owners(place: str, document: Mapping[str, Any]) -> Iterator[Finding]:
    if all(plugins_named(document, name) for name in QUEUE_PLUGINS):
        yield Finding(
            "scheduler-two-queue-plugins",
            Severity.ERROR,
            Effect.NONE,
            f"{place} has both capacity and proportion, which divide resources among queues by different rules.",
            tuple(
                f"tier {plugin.tier + 1}: {plugin.name}"
                for name in QUEUE_PLUGINS
                for plugin in plugins_named(document, name)
            ),
            "Keep capacity for queues with deserved or a parent, proportion for queues with weights.",
        )


def _twice(place: str, document: Mapping[str, Any]) -> Iterator[Finding]:
    """pkg/scheduler/framework/framework.go, OpenSession: plugins are stored by name, and the last one is used."""
    counted = Counter(plugin.name for plugin in list_plugins(document))
    twice = tuple(name for name, count in counted.items() if count > 1)
    if twice:
        yield Finding(
            "scheduler-plugin-twice",
            Severity.WARNING,
            Effect.NONE,
            f"{place} has a plugin more than once; the arguments of the last one apply to all of them.",
            twice,
            "Keep one of each.",
        )


def _percentage(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 100


def _usage(place: str, document: Mapping[str, Any]) -> Iterator[Finding]:
    """pkg/scheduler/plugins/usage/usage.go: a value that is not a Go int counts as 0, and no node is below 0."""
    for plugin in plugins_named(document, USAGE_PLUGIN):
        arguments = plugin.settings.get("arguments")
        thresholds = arguments.get("thresholds") if isinstance(arguments, dict) else None
        values = thresholds if isinstance(thresholds, dict) else {}
        known = {name: value for name, value in values.items() if name in ("cpu", "mem")}
        wrong = {name: value for name, value in known.items() if not _percentage(value)}
        if wrong:
            yield Finding(
                "scheduler-usage-threshold-invalid",
                Severity.ERROR,
                Effect.NONE,
                f"{place} has a threshold of the plugin usage that is not a whole percentage; it is read as 0.",
                tuple(f"{name} = {quote_value(value)}" for name, value in wrong.items()),
                "Write it as a number from 0 to 100, without quotes (colocation_scheduler_usage).",
            )


def _metrics(place: str, document: Mapping[str, Any]) -> Iterator[Finding]:
    """usage.go: without metrics of the last five minutes every node passes, with a score of 0."""
    if not plugins_named(document, USAGE_PLUGIN):
        return
    metrics = document.get("metrics")
    source: Mapping[str, Any] = metrics if isinstance(metrics, dict) else {}
    kind, address = source.get("type"), source.get("address")
    problems = []
    if kind not in METRICS:
        problems.append(f"metrics.type = {kind}")
    if kind != "prometheus_adaptor" and not address:
        problems.append("metrics.address is not set")
    if problems:
        yield Finding(
            "scheduler-usage-without-metrics",
            Severity.ERROR,
            Effect.NONE,
            f"{place} has the plugin usage without a usable source of metrics; the scheduler then ignores the load.",
            tuple(problems),
            f"Set colocation_scheduler_metrics: one of {', '.join(METRICS)}; all but the adaptor need an address.",
        )


def _binpack(place: str, document: Mapping[str, Any]) -> Iterator[Finding]:
    """The score of binpack grows with what a node's pods request, that of usage falls with its load."""
    both = [plugin for name in (USAGE_PLUGIN, "binpack") for plugin in plugins_named(document, name)]
    if len({plugin.name for plugin in both}) == 2:
        yield Finding(
            "scheduler-binpack-against-usage",
            Severity.INFO,
            Effect.NONE,
            f"{place} has binpack, which prefers full nodes, and usage, which prefers nodes with little load.",
            tuple(f"tier {plugin.tier + 1}: {plugin.name}" for plugin in both),
            "Remove one of them, or weigh them with colocation_scheduler_binpack and colocation_scheduler_usage.",
        )


def _reclaim(place: str, document: Mapping[str, Any]) -> Iterator[Finding]:
    """Only these two plugins select what a queue has to give back (plugins/capacity, proportion: ReclaimableFn)."""
    if RECLAIM in parse_actions(document.get("actions")) and not any(
        plugins_named(document, name) for name in QUEUE_PLUGINS
    ):
        yield Finding(
            "scheduler-reclaim-without-queue-plugin",
            Severity.WARNING,
            Effect.NONE,
            f"{place} has the action reclaim without a plugin that selects what a queue has to give back.",
            ("neither capacity nor proportion",),
            "Add capacity or proportion, or remove reclaim.",
        )


def _split_reclaim(place: str, document: Mapping[str, Any]) -> Iterator[Finding]:
    split = split_queue_plugins(document)
    if RECLAIM in parse_actions(document.get("actions")) and split:
        yield Finding(
            "scheduler-reclaim-split",
            Severity.WARNING,
            Effect.NONE,
            f"{place} has gang and the plugin for queues in different tiers; reclaim then evicts pods that jobs need.",
            tuple(f"tier {plugin.tier + 1}: {plugin.name}" for plugin in split),
            "Move it to the tier of gang (colocation_scheduler_reclaim: true does that).",
        )


def unknown_release(version: tuple[int, int] | None, image: str) -> tuple[Finding, ...]:
    """A scheduler whose release is unknown or too old for these findings."""
    if is_known_release(version):
        return ()
    first = VOLCANO_SCHEDULER.text
    problem = f"is older than {first}, the first with capacity" if version else "is not known from its image's tag"
    return (
        Finding(
            "scheduler-release-unknown",
            Severity.WARNING,
            Effect.NONE,
            f"The scheduler's release {problem}; findings about its configuration may not apply to it.",
            (f"image {image}",),
            f"Run a scheduler of Volcano {first} or newer, with its release as the image's tag.",
        ),
    )


def thresholds_above_watermarks(usage: Usage | None, watermarks: Watermarks | None) -> tuple[Finding, ...]:
    """Thresholds with which nodes still get pods while their agent evicts."""
    if usage is None or watermarks is None or not usage.enabled:
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
            "The scheduler still assigns pods to nodes whose agent already evicts pods.",
            above,
            "Set colocation_scheduler_usage below the watermark of eviction.",
        ),
    )


def _tiers(document: Mapping[str, Any], name: str) -> frozenset[int]:
    return frozenset(plugin.tier for plugin in plugins_named(document, name))


def ignored_queue_fields(
    document: Mapping[str, Any], fields: Mapping[str, tuple[str, ...]], release: Version | None
) -> tuple[Finding, ...]:
    """Fields of queues that no plugin of this configuration uses; ``fields`` has the queues that set each field."""
    capacity = plugins_named(document, "capacity")
    flat = not any(plugin.settings.get("enableHierarchy") is True for plugin in capacity)
    ignored = []
    if not capacity and "deserved" in fields:
        ignored.append(("deserved", "the plugin capacity is missing"))
    if flat and "parent" in fields:
        ignored.append(("parent", "the plugin capacity with enableHierarchy: true is missing"))
    elif release is not None and release < VOLCANO.minor and "parent" in fields:
        ignored.append(("parent", f"Volcano has a hierarchy of queues from {VOLCANO.text} on"))
    if capacity and "weight" in fields:
        ignored.append(("weight", "capacity divides by deserved, not by weight"))
    if RECLAIM not in parse_actions(document.get("actions")) and "reclaimable" in fields:
        ignored.append(("reclaimable", "the action reclaim is missing"))
    if not ignored:
        return ()
    return (
        Finding(
            "scheduler-queue-field-ignored",
            Severity.WARNING,
            Effect.NONE,
            "Queues have fields that this scheduler ignores.",
            tuple(f"{name} of {', '.join(fields[name])}: {reason}" for name, reason in ignored),
            f"Change the scheduler's plugins or actions (besides {', '.join(NEEDED_ACTIONS)}), or remove the fields.",
        ),
    )
