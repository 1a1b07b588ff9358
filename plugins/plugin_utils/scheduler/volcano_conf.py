# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration of Volcano's scheduler in its ConfigMap: actions, plugins, and the source of load metrics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from ..edit.document_changes import Path
from ..edit.readers import read_yaml
from ..edit.text_errors import EditError
from ..edit.yaml_items import insert_item, move_item, remove_item, set_in_item
from ..edit.yaml_splice import edit_yaml
from ..kube.objects import Object, Ref

NEEDED_ACTIONS = ("allocate", "backfill", "preempt")
"""Pods get free resources first, then backfill uses what remains, and only then other pods are preempted."""

KNOWN_ACTIONS = (
    "enqueue",
    "allocate",
    "backfill",
    "preempt",
    "reclaim",
    "shuffle",
    "elect",
    "reserve",
    "gangpreempt",
    "gangreclaim",
)
"""volcano pkg/scheduler/actions/factory.go, over its releases."""


def parse_actions(text: object) -> tuple[str, ...]:
    """The names in ``actions``, split as volcano pkg/scheduler/util.go does (unmarshalSchedulerConf)."""
    return _split_names(str(text or ""))


def _split_names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def order_actions(actions: Sequence[str], dropped: Iterable[str] = (), added: Iterable[str] = ()) -> tuple[str, ...]:
    """The needed actions in their order, every other current action that is not dropped, and the added ones.

    Another action stays directly behind the needed one that it followed; one that followed none stays in front.
    An added action that is missing follows the last needed one directly.
    """
    removed = frozenset(dropped)
    behind: dict[str | None, list[str]] = {}
    last: str | None = None
    for name in dict.fromkeys(actions):
        if name in NEEDED_ACTIONS:
            last = name
        elif name not in removed:
            behind.setdefault(last, []).append(name)
    missing = [name for name in added if name not in actions]
    behind[NEEDED_ACTIONS[-1]] = [*missing, *behind.get(NEEDED_ACTIONS[-1], ())]
    result = list(behind.get(None, ()))
    for name in NEEDED_ACTIONS:
        result += [name, *behind.get(name, ())]
    return tuple(result)


RECLAIM = "reclaim"
PRIORITY_PLUGIN, GANG_PLUGIN, USAGE_PLUGIN, BINPACK_PLUGIN = "priority", "gang", "usage", "binpack"
BINPACK_RESOURCES = "binpack.resources"
QUEUE_PLUGINS = ("capacity", "proportion")
"""The plugins that divide resources among queues."""

GANG_SETTINGS: Mapping[Path, bool] = {("enablePreemptable",): False, ("enableJobStarving",): False}
"""Gang can veto which pods are evicted and for which jobs; without that BE pods of any job can be evicted."""


@dataclass(frozen=True)
class Usage:
    """Thresholds of load-aware scheduling in percent. ``enable_predicate``: nodes above them get no pod at all.

    Unless ``enabled``, the plugin is removed, and nothing else counts. ``weights`` has the weights to set by the names
    of the plugin's arguments; others stay.
    """

    cpu: int = 60
    memory: int = 60
    enable_predicate: bool = True
    weights: Mapping[str, int] = field(default_factory=dict)
    enabled: bool = True


@dataclass(frozen=True)
class Binpack:
    """``weights`` has the weights to set by the names of the plugin's arguments, ``resources`` those of extended ones.

    Others stay, and so do resources that the plugin already counts.
    """

    weights: Mapping[str, int] = field(default_factory=dict)
    resources: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Metrics:
    """The source of the nodes' load: ``kind`` is prometheus, prometheus_adaptor or elasticsearch."""

    kind: str = "prometheus"
    address: str = ""
    interval: str = "30s"


@dataclass(frozen=True)
class DesiredConf:
    """The desired configuration; None leaves a part as it is."""

    dropped_actions: tuple[str, ...] = ()
    usage: Usage | None = None
    metrics: Metrics | None = None
    reclaim: bool = False
    binpack: Binpack | None = None


@dataclass(frozen=True)
class ConfPlugin:
    """A plugin of the configuration, and its position."""

    name: str
    tier: int
    index: int
    settings: Mapping[str, Any]

    @property
    def path(self) -> tuple[str | int, ...]:
        return ("tiers", self.tier, "plugins", self.index)


def list_plugins(document: Mapping[str, Any]) -> tuple[ConfPlugin, ...]:
    """All plugins in the order of the tiers; items of another form are skipped."""
    return tuple(_iterate_plugins(document))


def _iterate_plugins(document: Mapping[str, Any]) -> Iterator[ConfPlugin]:
    tiers = document.get("tiers")
    for number, tier in enumerate(tiers if isinstance(tiers, list) else ()):
        listed = tier.get("plugins") if isinstance(tier, dict) else None
        for index, plugin in enumerate(listed if isinstance(listed, list) else ()):
            if isinstance(plugin, dict) and isinstance(plugin.get("name"), str):
                yield ConfPlugin(plugin["name"], number, index, plugin)


def plugins_named(document: Mapping[str, Any], name: str) -> tuple[ConfPlugin, ...]:
    """The plugins of this name."""
    return tuple(plugin for plugin in list_plugins(document) if plugin.name == name)


def edit_conf(text: str, desired: DesiredConf) -> str:
    """The configuration with the settings for colocation. EditError names the line that cannot be changed safely."""
    document = read_yaml(text)
    if not list_plugins(document):
        raise EditError("it has no tier with plugins", None, "Restore upstream's default configuration first")
    current = parse_actions(document.get("actions"))
    actions = order_actions(current, desired.dropped_actions, (RECLAIM,) if desired.reclaim else ())
    if actions != current:
        text = edit_yaml(text, {("actions",): ", ".join(actions)})
    text = _priority_first(text)
    for gang in plugins_named(read_yaml(text), GANG_PLUGIN):
        text = set_in_item(text, gang.path, GANG_SETTINGS)
    if desired.reclaim:
        text = _queue_plugins_beside_gang(text)
    text = _with_usage(text, desired.usage)
    text = _with_binpack(text, desired.binpack)
    return _with_metrics(text, desired.metrics)


def _priority_first(text: str) -> str:
    """The first plugin that orders two jobs decides (pkg/scheduler/framework/session_plugins.go, JobOrderFn)."""
    plugins = plugins_named(read_yaml(text), PRIORITY_PLUGIN)
    first: Sequence[str | int] = ("tiers", 0, "plugins", 0)
    if not plugins:
        return insert_item(text, tuple(first[:-1]), 0, {"name": PRIORITY_PLUGIN})
    return text if plugins[0].path == tuple(first) else move_item(text, plugins[0].path, tuple(first))


def split_queue_plugins(document: Mapping[str, Any]) -> tuple[ConfPlugin, ...]:
    """The plugins for queues in another tier than gang.

    reclaim evicts what the first tier selects that selects anything, and asks no further tier
    (pkg/scheduler/framework/session_plugins.go, Reclaimable). Where gang protects all pods, the next tier is asked, and
    selects them although their jobs need them.
    """
    tiers = {plugin.tier for plugin in plugins_named(document, GANG_PLUGIN)}
    plugins = [plugin for name in QUEUE_PLUGINS for plugin in plugins_named(document, name)]
    return tuple(plugin for plugin in plugins if tiers and plugin.tier not in tiers)


def _queue_plugins_beside_gang(text: str) -> str:
    while split := split_queue_plugins(read_yaml(text)):
        gang = plugins_named(read_yaml(text), GANG_PLUGIN)[0]
        text = move_item(text, split[0].path, gang.path)
    return text


def _with_usage(text: str, usage: Usage | None) -> str:
    if usage is None:
        return text
    if not usage.enabled:
        return _without_usage(text)
    weights, thresholds = dict(usage.weights), {"cpu": usage.cpu, "mem": usage.memory}
    plugins = plugins_named(read_yaml(text), USAGE_PLUGIN)
    for plugin in plugins:
        changes: dict[Path, Any] = {("arguments", name): value for name, value in weights.items()}
        changes |= {("arguments", "thresholds", name): value for name, value in thresholds.items()}
        if bool(plugin.settings.get("enablePredicate", True)) is not usage.enable_predicate:
            changes["enablePredicate",] = usage.enable_predicate
        text = set_in_item(text, plugin.path, changes)
    if plugins:
        return text
    predicate = {} if usage.enable_predicate else {"enablePredicate": False}
    item: dict[str, Any] = {"name": USAGE_PLUGIN, **predicate, "arguments": {**weights, "thresholds": thresholds}}
    last = max(plugin.index for plugin in list_plugins(read_yaml(text)) if plugin.tier == 0)
    return insert_item(text, ("tiers", 0, "plugins"), last + 1, item)


def _without_usage(text: str) -> str:
    while plugins := plugins_named(read_yaml(text), USAGE_PLUGIN):
        text = remove_item(text, plugins[0].path)
    return text


def _with_binpack(text: str, binpack: Binpack | None) -> str:
    if binpack is None:
        return text
    plugins = plugins_named(read_yaml(text), BINPACK_PLUGIN)
    for plugin in plugins:
        arguments = _binpack_arguments(binpack, plugin.settings.get("arguments"))
        text = set_in_item(text, plugin.path, {("arguments", name): value for name, value in arguments.items()})
    if plugins:
        return text
    arguments = _binpack_arguments(binpack, None)
    item: dict[str, Any] = {"name": BINPACK_PLUGIN, **({"arguments": arguments} if arguments else {})}
    last = list_plugins(read_yaml(text))[-1]
    return insert_item(text, last.path[:-1], last.index + 1, item)


def _binpack_arguments(binpack: Binpack, current: object) -> dict[str, Any]:
    """The arguments to set. A resource counts only if ``binpack.resources`` names it (plugins/binpack/binpack.go)."""
    listed = current.get(BINPACK_RESOURCES) if isinstance(current, Mapping) else None
    names = _split_names(listed) if isinstance(listed, str) else ()
    arguments: dict[str, Any] = dict(binpack.weights)
    missing = [name for name in binpack.resources if name not in names]
    if missing:
        arguments[BINPACK_RESOURCES] = ", ".join((*names, *missing))
    return arguments | {f"{BINPACK_RESOURCES}.{name}": weight for name, weight in binpack.resources.items()}


def _with_metrics(text: str, metrics: Metrics | None) -> str:
    if metrics is None:
        return text
    changes: dict[Path, Any] = {("metrics", "type"): metrics.kind, ("metrics", "interval"): metrics.interval}
    if metrics.address:
        changes["metrics", "address"] = metrics.address
    return edit_yaml(text, changes)


METRICS_ADAPTOR = Ref("apiregistration.k8s.io/v1", "APIService", "v1beta1.custom.metrics.k8s.io")


@dataclass(frozen=True)
class RequiredObject:
    """An object that must exist in the cluster; ``reason`` says why."""

    ref: Ref
    reason: str


def find_metrics(desired: DesiredConf | None, text: str | None) -> Metrics | None:
    """The source of load metrics after the edit of the configuration: from the options, or configured before.

    None where load-aware scheduling is not desired, or where the configuration cannot be parsed (the plan refuses it).
    """
    usage = desired.usage if desired else None
    if desired is None or text is None or not (desired.metrics or (usage and usage.enabled)):
        return None
    try:
        return _metrics(read_yaml(edit_conf(text, desired)))
    except EditError:
        return None


def _metrics(document: Mapping[str, Any]) -> Metrics | None:
    metrics = document.get("metrics")
    if not isinstance(metrics, Mapping):
        return None
    return Metrics(str(metrics.get("type") or ""), str(metrics.get("address") or ""))


def required_object(metrics: Metrics) -> RequiredObject | None:
    """The Service that an address names, or the API of the adaptor; None for an address outside of the cluster."""
    if metrics.kind == "prometheus_adaptor":
        return RequiredObject(METRICS_ADAPTOR, "prometheus_adaptor uses the custom metrics API")
    labels = (urlsplit(metrics.address).hostname or "").split(".")
    if labels[2:3] == ["svc"] and labels[3:] in ([], ["cluster", "local"]):
        return RequiredObject(Ref("v1", "Service", labels[0], labels[1]), f"the metrics' address is {metrics.address}")
    return None


def availability_problem(required: RequiredObject, live: Object | None) -> str:
    """Why a required object is not available; '' where it is."""
    if live is None:
        return f"{required.reason}, and the cluster has no {required.ref.place}"
    conditions = (live.get("status") or {}).get("conditions") or ()
    states = {condition.get("type"): condition for condition in conditions}
    available = states.get("Available", {})
    if required.ref.kind == "APIService" and available.get("status") != "True":
        message = available.get("message", "no reason given")
        return f"{required.reason}, and {required.ref.place} is not available: {message}"
    return ""
