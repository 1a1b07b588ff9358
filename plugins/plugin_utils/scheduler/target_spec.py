# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The desired state of a cluster's scheduling from the options of scheduler_config; contradictions are refused."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...module_utils.safe_text import quote_value
from ..profile.validators import ProfileError
from .admission_policies import Admission, parse_admission
from .priority_classes import PriorityClass, parse_classes
from .queues import Queue, parse_queues
from .volcano_conf import NEEDED_ACTIONS, RECLAIM, Binpack, DesiredConf, Metrics, Usage

VOLCANO_DEFAULTS = {"cpu_high": 80, "memory_high": 60, "cpu_low": 30, "memory_low": 30}
"""volcano pkg/agent/config/utils, the defaults of evictingConfig."""
OPENFUYAO_DEFAULT, OPENFUYAO_HIGHEST = 60, 99
USAGE_WEIGHTS = {"weight": "usage.weight", "cpu_weight": "cpu.weight", "memory_weight": "memory.weight"}
"""Options and the arguments that they set: volcano pkg/scheduler/plugins/usage/usage.go."""
BINPACK_WEIGHTS = {"weight": "binpack.weight", "cpu": "binpack.cpu", "memory": "binpack.memory"}
"""The same for volcano pkg/scheduler/plugins/binpack/binpack.go."""
_WHOLE_NUMBER = re.compile(r"[0-9]+")
_RESOURCE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._/-]*[A-Za-z0-9])?")
_DURATION = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?(?:ms|s|m|h))+")


@dataclass(frozen=True)
class Watermarks:
    """The usage in percent at which an agent starts to evict, and at which it stops; openFuyao has no lower ones."""

    cpu_high: int
    memory_high: int
    cpu_low: int | None = None
    memory_low: int | None = None


def parse_watermarks(option: str, values: Mapping[str, int | None], system: str) -> Watermarks:
    """The watermarks of one system, with its defaults; ProfileError for values that its agent refuses."""
    chosen = {name: value for name, value in values.items() if value is not None}
    return _volcano(option, chosen) if system == "volcano" else _openfuyao(option, chosen)


def _volcano(option: str, options: Mapping[str, int]) -> Watermarks:
    values = {**VOLCANO_DEFAULTS, **options}
    for name, value in values.items():
        # The agent's own check has no upper limit (pkg/config/api validate.go); above 100 it would never evict.
        if not 0 < value <= 100:
            raise ProfileError(f"{option}.{name}", f"{value} is not a percentage from 1 to 100")
    for resource in ("cpu", "memory"):
        low, high = values[f"{resource}_low"], values[f"{resource}_high"]
        if low >= high:
            raise ProfileError(
                f"{option}.{resource}_low", f"{low} is not below {resource}_high, {high}: eviction would never end"
            )
    return Watermarks(**values)


def _openfuyao(option: str, options: Mapping[str, int]) -> Watermarks:
    for name in ("cpu_low", "memory_low"):
        if name in options:
            raise ProfileError(f"{option}.{name}", "openFuyao has one watermark per resource: cpu_high, memory_high")
    for name, value in options.items():
        if not 0 <= value <= OPENFUYAO_HIGHEST:
            raise ProfileError(f"{option}.{name}", f"{value} is not from 0 to {OPENFUYAO_HIGHEST}")
    return Watermarks(options.get("cpu_high", OPENFUYAO_DEFAULT), options.get("memory_high", OPENFUYAO_DEFAULT))


def parse_usage(option: str, values: Mapping[str, Any]) -> Usage:
    """Thresholds of load-aware scheduling, 0 to 100, and its weights."""
    for name in ("cpu", "memory"):
        if not 0 <= values[name] <= 100:
            raise ProfileError(f"{option}.{name}", f"{values[name]} is not a percentage from 0 to 100")
    weights = _weights(option, values, USAGE_WEIGHTS)
    if weights.get("cpu.weight") == weights.get("memory.weight") == 0:
        raise ProfileError(f"{option}.cpu_weight", "it and memory_weight are 0; the plugin divides by their sum")
    return Usage(values["cpu"], values["memory"], values["enable_predicate"], weights, values["enabled"])


def parse_binpack(option: str, values: Mapping[str, Any]) -> Binpack:
    """The weights of the plugin binpack, each 0 or more."""
    location, resources = f"{option}.resources", {}
    for name, value in (values["resources"] or {}).items():
        if name in ("cpu", "memory"):
            raise ProfileError(f"{location}.{name}", f"the plugin ignores it; set {option}.{name}")
        if not _RESOURCE.fullmatch(name):
            raise ProfileError(f"{location}.{name}", "it is not the name of a resource, such as nvidia.com/gpu")
        if not _WHOLE_NUMBER.fullmatch(str(value)):
            raise ProfileError(f"{location}.{name}", f"{quote_value(value)} is not a whole number from 0")
        resources[name] = int(value)
    return Binpack(_weights(option, values, BINPACK_WEIGHTS), resources)


def _weights(option: str, values: Mapping[str, int | None], arguments: Mapping[str, str]) -> dict[str, int]:
    """The weights that are set, by the names of the plugin's arguments."""
    weights = {}
    for name, argument in arguments.items():
        value = values[name]
        if value is not None and value < 0:
            raise ProfileError(f"{option}.{name}", f"{value} is negative")
        if value is not None:
            weights[argument] = value
    return weights


def parse_metrics(option: str, kind: str, address: str, interval: str) -> Metrics:
    """The source of the load metrics; every kind except prometheus_adaptor needs an address with a scheme."""
    if kind != "prometheus_adaptor" and not address.startswith(("http://", "https://")):
        problem = f"{address} is not an http:// or https:// address" if address else "it is empty"
        raise ProfileError(f"{option}.address", f"{problem}; {kind} needs one")
    if not _DURATION.fullmatch(interval):
        raise ProfileError(f"{option}.interval", f"{interval} is not a duration such as 30s or 1m")
    return Metrics(kind, address, interval)


@dataclass(frozen=True)
class TargetSpec:
    """``conf`` and ``admission`` are None where they are not managed."""

    namespace: str
    deployment: str
    configmap: str
    key: str
    conf: DesiredConf | None = None
    classes: tuple[PriorityClass, ...] = ()
    queues: tuple[Queue, ...] = ()
    admission: Admission | None = None
    watermarks: Watermarks | None = None

    @property
    def needs_volcano(self) -> bool:
        """Whether a part of it requires Volcano's scheduler."""
        return bool(self.conf or self.queues)


def parse_target_spec(options: Mapping[str, Any]) -> TargetSpec:
    """The desired state; ProfileError names the option that is invalid for every cluster."""
    classes = parse_classes("priority_classes", options["priority_classes"])
    admission, watermarks = options["admission"], options["watermarks"]
    return TargetSpec(
        options["namespace"],
        options["deployment"],
        options["configmap"],
        options["configmap_key"],
        _conf(options) if options["edit_configmap"] else None,
        classes,
        parse_queues("queues", options["queues"]),
        _admission(admission, classes, options["namespace"]) if admission else None,
        parse_watermarks("watermarks", _without_system(watermarks), watermarks["system"]) if watermarks else None,
    )


def _conf(options: Mapping[str, Any]) -> DesiredConf:
    dropped = tuple(options["dropped_actions"])
    for action in dropped:
        if action in NEEDED_ACTIONS:
            raise ProfileError("dropped_actions", f"{action} is required for colocation")
    if options["reclaim"] and RECLAIM in dropped:
        raise ProfileError("dropped_actions", f"it names {RECLAIM}, which {RECLAIM}: true adds; remove one of the two")
    usage, metrics, binpack = options["usage"], options["metrics"], options["binpack"]
    return DesiredConf(
        dropped,
        parse_usage("usage", usage) if usage else None,
        parse_metrics("metrics", metrics["type"], metrics["address"], metrics["interval"]) if metrics else None,
        options["reclaim"],
        parse_binpack("binpack", binpack) if binpack else None,
    )


def _admission(options: Mapping[str, Any], classes: tuple[PriorityClass, ...], namespace: str) -> Admission:
    """Volcano's namespace is excluded: the agent's test pods there have the level BE and request cpu."""
    admission = parse_admission("admission", options, classes)
    return replace(admission, excluded=tuple(dict.fromkeys((*admission.excluded, namespace))))


def _without_system(watermarks: Mapping[str, Any]) -> dict[str, int | None]:
    return {name: value for name, value in watermarks.items() if name != "system"}
