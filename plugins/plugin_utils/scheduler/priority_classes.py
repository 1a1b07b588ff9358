# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""PriorityClasses of the levels: which pods are scheduled first, and which may preempt others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..kube.api_errors import ClusterError
from ..profile.validators import ProfileError

API, KIND = "scheduling.k8s.io/v1", "PriorityClass"
HIGHEST, LOWEST = 1_000_000_000, -(2**31)
"""kubernetes pkg/apis/scheduling/types.go, HighestUserDefinablePriority; the value is an int32."""
SYSTEM_PREFIX = "system-"
NEVER, LOWER = "Never", "PreemptLowerPriority"


@dataclass(frozen=True)
class PriorityClass:
    """``policy`` is Never for a class whose pods wait and do not preempt others."""

    name: str
    value: int
    policy: str = LOWER
    default: bool = False
    description: str = ""

    def manifest(self) -> dict[str, Any]:
        return {
            "apiVersion": API,
            "kind": KIND,
            "metadata": {"name": self.name},
            "value": self.value,
            "preemptionPolicy": self.policy,
            "globalDefault": self.default,
            "description": self.description,
        }


def parse_classes(option: str, items: Sequence[Mapping[str, Any]]) -> tuple[PriorityClass, ...]:
    """The desired classes; ProfileError for values that API servers refuse (pkg/apis/scheduling/validation)."""
    classes = tuple(
        PriorityClass(
            item["name"], item["value"], item["preemption_policy"], item["global_default"], item["description"] or ""
        )
        for item in items
    )
    for number, priority_class in enumerate(classes):
        location = f"{option}[{number}]"
        if priority_class.name.startswith(SYSTEM_PREFIX):
            raise ProfileError(
                f"{location}.name", f"{priority_class.name}: names with {SYSTEM_PREFIX} are reserved for the system"
            )
        if not LOWEST <= priority_class.value <= HIGHEST:
            raise ProfileError(f"{location}.value", f"{priority_class.value} is not from {LOWEST} to {HIGHEST}")
        if priority_class.name in {other.name for other in classes[:number]}:
            raise ProfileError(f"{location}.name", f"{priority_class.name} is defined twice")
    if sum(priority_class.default for priority_class in classes) > 1:
        raise ProfileError(option, "only one class can be the global default")
    return classes


def check_classes(classes: Iterable[PriorityClass], manifests: Iterable[Mapping[str, Any]]) -> None:
    """ClusterError where the cluster's classes prevent the creation or change of these.

    The value and the policy are immutable (ValidatePriorityClassUpdate); the admission plugin Priority refuses a second
    default.
    """
    existing = {manifest["metadata"]["name"]: manifest for manifest in manifests}
    for priority_class in classes:
        current = existing.get(priority_class.name)
        if current is not None:
            _check_fixed(priority_class, current)
        if priority_class.default:
            _check_default(priority_class, existing)


def _check_fixed(desired: PriorityClass, current: Mapping[str, Any]) -> None:
    pairs = (
        ("value", current["value"], desired.value),
        ("preemptionPolicy", current.get("preemptionPolicy") or LOWER, desired.policy),
    )
    conflicts = [
        f"{field} is {actual} and cannot become {target}" for field, actual, target in pairs if actual != target
    ]
    if conflicts:
        raise ClusterError(
            f"PriorityClass {desired.name}: {'; '.join(conflicts)}",
            "Nothing was changed. Give the new class another name and use it in workloads, or delete this one first:"
            " running pods keep their priority.",
        )


def _check_default(desired: PriorityClass, existing: Mapping[str, Mapping[str, Any]]) -> None:
    defaults = [name for name, manifest in existing.items() if manifest.get("globalDefault") and name != desired.name]
    if defaults:
        raise ClusterError(
            f"PriorityClass {desired.name} cannot be the global default, because {defaults[0]} is",
            f"Nothing was changed. Set globalDefault of {defaults[0]} to false first, or remove global_default.",
        )
