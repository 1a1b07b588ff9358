# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration of Volcano's scheduler in its ConfigMap: actions, plugins, and where it reads the load of nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ..edit.document_changes import Path
from ..edit.readers import read_yaml
from ..edit.text_errors import EditError
from ..edit.yaml_items import insert_item, move_item, set_in_item
from ..edit.yaml_splice import edit_yaml
from ..kube.objects import Object, Ref

NEEDED_ACTIONS = ("allocate", "backfill", "preempt")
"""Pods find free room first, then what is left over is filled, and only then somebody is made to leave."""

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
    return tuple(name.strip() for name in str(text or "").split(",") if name.strip())


def order_actions(found: Sequence[str], dropped: Iterable[str] = ()) -> tuple[str, ...]:
    """The wanted actions in their order, and every other one that is there, but for those to be dropped.

    Another action stays right behind the wanted one that it followed; one that followed none stays in front.
    """
    gone = frozenset(dropped)
    behind: dict[str | None, list[str]] = {}
    last: str | None = None
    for name in dict.fromkeys(found):
        if name in NEEDED_ACTIONS:
            last = name
        elif name not in gone:
            behind.setdefault(last, []).append(name)
    result = list(behind.get(None, ()))
    for name in NEEDED_ACTIONS:
        result += [name, *behind.get(name, ())]
    return tuple(result)


PRIORITY_PLUGIN, GANG_PLUGIN, USAGE_PLUGIN = "priority", "gang", "usage"
GANG_SETTINGS: Mapping[Path, bool] = {("enablePreemptable",): False, ("enableJobStarving",): False}
"""Gang has a veto on who is evicted and on who may ask for it; without it BE pods of any job make room."""


@dataclass(frozen=True)
class Usage:
    """Thresholds of load-aware scheduling, percent. ``keep_off``: nodes above get no pod, not only fewer points."""

    cpu: int = 60
    memory: int = 60
    keep_off: bool = True


@dataclass(frozen=True)
class Metrics:
    """Where the scheduler reads the nodes' load: ``kind`` is prometheus, prometheus_adaptor or elasticsearch."""

    kind: str = "prometheus"
    address: str = ""
    interval: str = "30s"


@dataclass(frozen=True)
class DesiredConf:
    """None leaves a part as it is."""

    dropped_actions: tuple[str, ...] = ()
    usage: Usage | None = None
    metrics: Metrics | None = None


@dataclass(frozen=True)
class ConfPlugin:
    """A plugin of the configuration, and where it stands."""

    name: str
    tier: int
    place: int
    settings: Mapping[str, Any]

    @property
    def at(self) -> tuple[str | int, ...]:
        return ("tiers", self.tier, "plugins", self.place)


def list_plugins(document: Mapping[str, Any]) -> tuple[ConfPlugin, ...]:
    """All plugins in the order of the tiers; what is written in another shape is left out."""
    return tuple(_iterate_plugins(document))


def _iterate_plugins(document: Mapping[str, Any]) -> Iterator[ConfPlugin]:
    tiers = document.get("tiers")
    for number, tier in enumerate(tiers if isinstance(tiers, list) else ()):
        listed = tier.get("plugins") if isinstance(tier, dict) else None
        for place, each in enumerate(listed if isinstance(listed, list) else ()):
            if isinstance(each, dict) and isinstance(each.get("name"), str):
                yield ConfPlugin(each["name"], number, place, each)


def plugins_named(document: Mapping[str, Any], name: str) -> tuple[ConfPlugin, ...]:
    """The plugins of this name."""
    return tuple(each for each in list_plugins(document) if each.name == name)


def edit_conf(text: str, wanted: DesiredConf) -> str:
    """The configuration with what colocation needs. EditError names the line that cannot be changed safely."""
    document = read_yaml(text)
    if not list_plugins(document):
        raise EditError("it has no tier with plugins", None, "Put upstream's default configuration there first")
    found = parse_actions(document.get("actions"))
    actions = order_actions(found, wanted.dropped_actions)
    if actions != found:
        text = edit_yaml(text, {("actions",): ", ".join(actions)})
    text = _priority_first(text)
    for gang in plugins_named(read_yaml(text), GANG_PLUGIN):
        text = set_in_item(text, gang.at, GANG_SETTINGS)
    text = _with_usage(text, wanted.usage)
    return _with_metrics(text, wanted.metrics)


def _priority_first(text: str) -> str:
    """The first plugin that orders two jobs decides (pkg/scheduler/framework/session_plugins.go, JobOrderFn)."""
    found = plugins_named(read_yaml(text), PRIORITY_PLUGIN)
    first: Sequence[str | int] = ("tiers", 0, "plugins", 0)
    if not found:
        return insert_item(text, tuple(first[:-1]), 0, {"name": PRIORITY_PLUGIN})
    return text if found[0].at == tuple(first) else move_item(text, found[0].at, tuple(first))


def _with_usage(text: str, usage: Usage | None) -> str:
    if usage is None:
        return text
    thresholds: dict[str, Any] = {"cpu": usage.cpu, "mem": usage.memory}
    found = plugins_named(read_yaml(text), USAGE_PLUGIN)
    for each in found:
        changes: dict[Path, Any] = {("arguments", "thresholds", name): value for name, value in thresholds.items()}
        if bool(each.settings.get("enablePredicate", True)) is not usage.keep_off:
            changes["enablePredicate",] = usage.keep_off
        text = set_in_item(text, each.at, changes)
    if found:
        return text
    item: dict[str, Any] = {"name": USAGE_PLUGIN, "arguments": {"thresholds": thresholds}}
    if not usage.keep_off:
        item = {"name": USAGE_PLUGIN, "enablePredicate": False, "arguments": {"thresholds": thresholds}}
    last = max(each.place for each in list_plugins(read_yaml(text)) if each.tier == 0)
    return insert_item(text, ("tiers", 0, "plugins"), last + 1, item)


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
    """An object of the cluster that has to be there."""

    ref: Ref
    told: str


def find_metrics(wanted: DesiredConf | None, text: str | None) -> Metrics | None:
    """Where a scheduler that is to go by load reads it, once its configuration is edited: given now, or there before.

    None where nothing of that is wanted, or where the configuration cannot be read, which the plan refuses.
    """
    if wanted is None or text is None or not (wanted.usage or wanted.metrics):
        return None
    try:
        return _metrics(read_yaml(edit_conf(text, wanted)))
    except EditError:
        return None


def _metrics(document: Mapping[str, Any]) -> Metrics | None:
    found = document.get("metrics")
    if not isinstance(found, Mapping):
        return None
    return Metrics(str(found.get("type") or ""), str(found.get("address") or ""))


def required_object(metrics: Metrics) -> RequiredObject | None:
    """The Service that an address names, or the API of the adaptor; None for an address outside of the cluster."""
    if metrics.kind == "prometheus_adaptor":
        return RequiredObject(METRICS_ADAPTOR, "prometheus_adaptor is asked through the custom metrics API")
    labels = (urlsplit(metrics.address).hostname or "").split(".")
    if labels[2:3] == ["svc"] and labels[3:] in ([], ["cluster", "local"]):
        return RequiredObject(Ref("v1", "Service", labels[0], labels[1]), f"the metrics' address is {metrics.address}")
    return None


def availability_problem(place: RequiredObject, found: Object | None) -> str:
    """What is wrong with it; '' where nothing is."""
    if found is None:
        return f"{place.told}, and the cluster has no {place.ref.place}"
    conditions = (found.get("status") or {}).get("conditions") or ()
    states = {each.get("type"): each for each in conditions}
    available = states.get("Available", {})
    if place.ref.kind == "APIService" and available.get("status") != "True":
        return f"{place.told}, and {place.ref.place} is not available: {available.get('message', 'no reason given')}"
    return ""
