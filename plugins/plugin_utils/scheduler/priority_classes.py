# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""PriorityClasses of the levels: who goes first, and who may make others leave."""

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
    """``policy`` is Never for a class whose pods wait instead of making others leave."""

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


def parse_classes(option: str, given: Sequence[Mapping[str, Any]]) -> tuple[PriorityClass, ...]:
    """The wanted classes; ProfileError for what no API server takes (pkg/apis/scheduling/validation)."""
    classes = tuple(
        PriorityClass(
            each["name"], each["value"], each["preemption_policy"], each["global_default"], each["description"] or ""
        )
        for each in given
    )
    for number, each in enumerate(classes):
        place = f"{option}[{number}]"
        if each.name.startswith(SYSTEM_PREFIX):
            raise ProfileError(f"{place}.name", f"{each.name}: names with {SYSTEM_PREFIX} are reserved for the system")
        if not LOWEST <= each.value <= HIGHEST:
            raise ProfileError(f"{place}.value", f"{each.value} is not from {LOWEST} to {HIGHEST}")
        if each.name in {other.name for other in classes[:number]}:
            raise ProfileError(f"{place}.name", f"{each.name} is there twice")
    if sum(each.default for each in classes) > 1:
        raise ProfileError(option, "only one class can be the global default")
    return classes


def check_classes(classes: Iterable[PriorityClass], found: Iterable[Mapping[str, Any]]) -> None:
    """ClusterError where the cluster's classes do not let these be made or changed.

    A value and a policy are for ever (ValidatePriorityClassUpdate); a second default is refused by the admission
    plugin Priority.
    """
    there = {each["metadata"]["name"]: each for each in found}
    for each in classes:
        now = there.get(each.name)
        if now is not None:
            _check_fixed(each, now)
        if each.default:
            _check_default(each, there)


def _check_fixed(wanted: PriorityClass, found: Mapping[str, Any]) -> None:
    pairs = (
        ("value", found["value"], wanted.value),
        ("preemptionPolicy", found.get("preemptionPolicy") or LOWER, wanted.policy),
    )
    wrong = [f"{field} is {now} and cannot become {then}" for field, now, then in pairs if now != then]
    if wrong:
        raise ClusterError(
            f"PriorityClass {wanted.name}: {'; '.join(wrong)}",
            "Nothing was changed. Give the new class another name and let workloads name that one, or delete this one"
            " first: pods that run keep the number they got.",
        )


def _check_default(wanted: PriorityClass, there: Mapping[str, Mapping[str, Any]]) -> None:
    others = [name for name, each in there.items() if each.get("globalDefault") and name != wanted.name]
    if others:
        raise ClusterError(
            f"PriorityClass {wanted.name} cannot be the global default, {others[0]} is",
            f"Nothing was changed. Set globalDefault of {others[0]} to false first, or leave global_default out.",
        )
