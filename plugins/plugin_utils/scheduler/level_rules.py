# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules for pods of a QoS level: each one as CEL, for the API server, and as a function, for the audit.

``LeveledPod`` has the values that the expressions read. tests/volcano/test_audit.py compares both with an API server.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...module_utils.quantity import parse_quantity
from .cel_text import cel_list

LEVEL_ANNOTATIONS = ("volcano.sh/qos-level", "openfuyao.com/QoS-level")
"""Volcano's first (pkg/agent/apis/extension/qos.go); both must have the same value in a pod that has both."""
LEVELS = ("HLS", "LS", "BE")
BATCH_RESOURCES = ("kubernetes.io/batch-cpu", "kubernetes.io/batch-memory")
"""volcano pkg/agent/apis/types.go."""

Amounts = Mapping[str, str]


def level_cel(pod: str) -> str:
    """CEL for the level of ``object`` or ``oldObject``; '' where no annotation names one."""
    expression = "''"
    for key in reversed(LEVEL_ANNOTATIONS):
        notes = f"{pod}.metadata.annotations"
        expression = f"(has({notes}) && '{key}' in {notes} ? {notes}['{key}'] : {expression})"
    return expression


VARIABLES = {
    "level": level_cel("object"),
    "containers": "object.spec.containers + (has(object.spec.initContainers) ? object.spec.initContainers : [])",
}
"""The variables of the expressions."""


@dataclass(frozen=True)
class ContainerAmounts:
    """What a container requests, and its limits."""

    requests: Amounts
    limits: Amounts


@dataclass(frozen=True)
class LeveledPod:
    """``level``: '' where no annotation names one. ``containers``: those of the start too.

    ``has_resources``: whether the pod itself has resources (``spec.resources``).
    """

    level: str
    annotations: Mapping[str, str]
    containers: tuple[ContainerAmounts, ...]
    has_resources: bool = False

    @classmethod
    def of(cls, pod: Mapping[str, Any]) -> LeveledPod:
        """A pod as the API server returns it, with defaults: a limit without a request is its request too."""
        spec, annotations = pod["spec"], pod["metadata"].get("annotations") or {}
        containers = (*spec["containers"], *(spec.get("initContainers") or ()))
        level = next((annotations[key] for key in LEVEL_ANNOTATIONS if key in annotations), "")
        has_resources = spec.get("resources") is not None
        return cls(level, annotations, tuple(map(_amounts, containers)), has_resources)


def _amounts(container: Mapping[str, Any]) -> ContainerAmounts:
    resources = container.get("resources") or {}
    return ContainerAmounts(resources.get("requests") or {}, resources.get("limits") or {})


@dataclass(frozen=True)
class LevelRule:
    """A rule of a level, the message for a pod that breaks it, and whether a pod of any level follows it."""

    message: str
    expression: str
    is_followed: Callable[[LeveledPod], bool]


def level_rules(resources: Sequence[str]) -> tuple[LevelRule, ...]:
    """All rules; ``resources`` are the oversubscribed resources."""
    return (LEVEL_IS_KNOWN, ANNOTATIONS_AGREE, HLS_IS_GUARANTEED, HLS_HAS_WHOLE_CPUS, *_batch_rules(resources))


LEVEL_IS_KNOWN = LevelRule(
    "the QoS level is none of LC, HLS, LS, BE; an agent takes another word for no level at all",
    "variables.level in ['LC', 'HLS', 'LS', 'BE'] || variables.level.matches('^-?[0-7]$')",
    lambda pod: re.fullmatch("LC|HLS|LS|BE|-?[0-7]", pod.level) is not None,
)

ANNOTATIONS_AGREE = LevelRule(
    "volcano.sh/qos-level and openfuyao.com/QoS-level name different levels",
    "!(has(object.metadata.annotations) && 'volcano.sh/qos-level' in object.metadata.annotations"
    " && 'openfuyao.com/QoS-level' in object.metadata.annotations)"
    " || object.metadata.annotations['volcano.sh/qos-level']"
    " == object.metadata.annotations['openfuyao.com/QoS-level']",
    lambda pod: len({pod.annotations[key] for key in LEVEL_ANNOTATIONS if key in pod.annotations}) < 2,
)

HLS_IS_GUARANTEED = LevelRule(
    "HLS: every container needs requests of cpu and memory that equal its limits, so that it is Guaranteed",
    "variables.level != 'HLS' || variables.containers.all(c, has(c.resources) && has(c.resources.requests)"
    " && has(c.resources.limits) && ['cpu', 'memory'].all(r, r in c.resources.requests"
    " && r in c.resources.limits"
    " && quantity(c.resources.requests[r]).compareTo(quantity(c.resources.limits[r])) == 0))",
    lambda pod: pod.level != "HLS" or all(map(_is_guaranteed, pod.containers)),
)

HLS_HAS_WHOLE_CPUS = LevelRule(
    "HLS: every container needs whole CPUs, such as 2, which kubelet's static CPU policy can pin",
    "variables.level != 'HLS' || variables.containers.all(c, has(c.resources) && has(c.resources.limits)"
    " && 'cpu' in c.resources.limits && quantity(c.resources.limits['cpu']).asApproximateFloat() >= 1.0"
    " && quantity(c.resources.limits['cpu']).asApproximateFloat()"
    " == double(int(quantity(c.resources.limits['cpu']).asApproximateFloat())))",
    lambda pod: pod.level != "HLS" or all(map(_has_whole_cpus, pod.containers)),
)


def _batch_rules(resources: Sequence[str]) -> tuple[LevelRule, ...]:
    """The rules that name oversubscribed resources, and that of LS between them."""
    batch, allowed = cel_list(resources), {*resources, "ephemeral-storage"}
    return (
        LevelRule(
            "HLS: oversubscribed resources are for LS and BE, an agent passes over those of HLS",
            "variables.level != 'HLS' || variables.containers.all(c, !has(c.resources) || !has(c.resources.limits)"
            f" || !c.resources.limits.exists(r, r in {batch}))",
            lambda pod: pod.level != "HLS" or not any({*resources} & c.limits.keys() for c in pod.containers),
        ),
        LS_REQUESTS_SOMETHING,
        LevelRule(
            "BE: only oversubscribed resources may be asked for, neither cpu nor memory nor others"
            " (a LimitRange of the namespace adds them too)",
            "variables.level != 'BE' || !has(object.spec.resources) && variables.containers.all(c, !has(c.resources)"
            f" || (!has(c.resources.requests) || c.resources.requests.all(r, r in {batch} || r == 'ephemeral-storage'))"
            f" && (!has(c.resources.limits) || c.resources.limits.all(r, r in {batch} || r == 'ephemeral-storage')))",
            lambda pod: (
                pod.level != "BE"
                or (not pod.has_resources and all({*c.requests, *c.limits} <= allowed for c in pod.containers))
            ),
        ),
    )


LS_REQUESTS_SOMETHING = LevelRule(
    "LS: a request of cpu or memory is needed; without one kubelet takes the pod for BestEffort, beside BE",
    "variables.level != 'LS' || variables.containers.exists(c, has(c.resources) && has(c.resources.requests)"
    " && ('cpu' in c.resources.requests || 'memory' in c.resources.requests))",
    lambda pod: pod.level != "LS" or any({"cpu", "memory"} & c.requests.keys() for c in pod.containers),
)


def _is_guaranteed(container: ContainerAmounts) -> bool:
    return all(
        name in container.requests
        and name in container.limits
        and parse_quantity(container.requests[name]) == parse_quantity(container.limits[name])
        for name in ("cpu", "memory")
    )


def _has_whole_cpus(container: ContainerAmounts) -> bool:
    cpus = float(parse_quantity(container.limits.get("cpu", "0")))
    return cpus >= 1 and cpus.is_integer()
