# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The scheduler's configuration as its ConfigMap has it: what it says, and what it is to say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..edit.document_changes import Path
from ..edit.readers import read_yaml
from ..edit.text_errors import EditError
from ..edit.yaml_items import insert_item, move_item, set_in_item
from ..edit.yaml_splice import edit_yaml
from .actions import ordered, read_actions

PRIORITY, GANG, USAGE = "priority", "gang", "usage"
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
class WantedConf:
    """None leaves a part as it is."""

    dropped_actions: tuple[str, ...] = ()
    usage: Usage | None = None
    metrics: Metrics | None = None


@dataclass(frozen=True)
class Plugin:
    """A plugin of the configuration, and where it stands."""

    name: str
    tier: int
    place: int
    settings: Mapping[str, Any]

    @property
    def at(self) -> tuple[str | int, ...]:
        return ("tiers", self.tier, "plugins", self.place)


def plugins(document: Mapping[str, Any]) -> tuple[Plugin, ...]:
    """All plugins in the order of the tiers; what is written in another shape is left out."""
    return tuple(_plugins(document))


def _plugins(document: Mapping[str, Any]) -> Iterator[Plugin]:
    tiers = document.get("tiers")
    for number, tier in enumerate(tiers if isinstance(tiers, list) else ()):
        listed = tier.get("plugins") if isinstance(tier, dict) else None
        for place, each in enumerate(listed if isinstance(listed, list) else ()):
            if isinstance(each, dict) and isinstance(each.get("name"), str):
                yield Plugin(each["name"], number, place, each)


def named(document: Mapping[str, Any], name: str) -> tuple[Plugin, ...]:
    """The plugins of this name."""
    return tuple(each for each in plugins(document) if each.name == name)


def edit_conf(text: str, wanted: WantedConf) -> str:
    """The configuration with what colocation needs. EditError names the line that cannot be changed safely."""
    document = read_yaml(text)
    if not plugins(document):
        raise EditError("it has no tier with plugins", None, "Put upstream's default configuration there first")
    found = read_actions(document.get("actions"))
    actions = ordered(found, wanted.dropped_actions)
    if actions != found:
        text = edit_yaml(text, {("actions",): ", ".join(actions)})
    text = _priority_first(text)
    for gang in named(read_yaml(text), GANG):
        text = set_in_item(text, gang.at, GANG_SETTINGS)
    text = _with_usage(text, wanted.usage)
    return _with_metrics(text, wanted.metrics)


def _priority_first(text: str) -> str:
    """The first plugin that orders two jobs decides (pkg/scheduler/framework/session_plugins.go, JobOrderFn)."""
    found = named(read_yaml(text), PRIORITY)
    first: Sequence[str | int] = ("tiers", 0, "plugins", 0)
    if not found:
        return insert_item(text, tuple(first[:-1]), 0, {"name": PRIORITY})
    return text if found[0].at == tuple(first) else move_item(text, found[0].at, tuple(first))


def _with_usage(text: str, usage: Usage | None) -> str:
    if usage is None:
        return text
    thresholds: dict[str, Any] = {"cpu": usage.cpu, "mem": usage.memory}
    found = named(read_yaml(text), USAGE)
    for each in found:
        changes: dict[Path, Any] = {("arguments", "thresholds", name): value for name, value in thresholds.items()}
        if bool(each.settings.get("enablePredicate", True)) is not usage.keep_off:
            changes["enablePredicate",] = usage.keep_off
        text = set_in_item(text, each.at, changes)
    if found:
        return text
    item: dict[str, Any] = {"name": USAGE, "arguments": {"thresholds": thresholds}}
    if not usage.keep_off:
        item = {"name": USAGE, "enablePredicate": False, "arguments": {"thresholds": thresholds}}
    last = max(each.place for each in plugins(read_yaml(text)) if each.tier == 0)
    return insert_item(text, ("tiers", 0, "plugins"), last + 1, item)


def _with_metrics(text: str, metrics: Metrics | None) -> str:
    if metrics is None:
        return text
    changes: dict[Path, Any] = {("metrics", "type"): metrics.kind, ("metrics", "interval"): metrics.interval}
    if metrics.address:
        changes["metrics", "address"] = metrics.address
    return edit_yaml(text, changes)
