# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""PodDisruptionBudgets, and which of them a pod is under."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..kube.objects import Object


@dataclass(frozen=True)
class Budget:
    """``allowed``: pods that may go now. ``selector`` is None where the budget is for no pod."""

    namespace: str
    name: str
    selector: Object | None
    allowed: int


def read_budgets(found: Iterable[Object], version: str) -> tuple[Budget, ...]:
    """Budgets of policy/v1 or policy/v1beta1. An empty selector is for all pods in v1, and for none before."""
    return tuple(_read(each, version) for each in found)


def _read(found: Object, version: str) -> Budget:
    selector = found["spec"].get("selector")
    if not selector and version != "v1":
        selector = None
    allowed = (found.get("status") or {}).get("disruptionsAllowed") or 0
    return Budget(found["metadata"]["namespace"], found["metadata"]["name"], selector, int(allowed))


def covering(budgets: Iterable[Budget], namespace: str, labels: Mapping[str, str]) -> tuple[Budget, ...]:
    """The budgets that a pod with these labels is under."""
    return tuple(
        each
        for each in budgets
        if each.namespace == namespace and each.selector is not None and _selects(each.selector, labels)
    )


def _selects(selector: Object, labels: Mapping[str, str]) -> bool:
    """apimachinery, pkg/apis/meta/v1/helpers.go: all that is said has to hold."""
    wanted = (selector.get("matchLabels") or {}).items()
    said = selector.get("matchExpressions") or ()
    return all(labels.get(key) == value for key, value in wanted) and all(_holds(each, labels) for each in said)


def _holds(said: Object, labels: Mapping[str, str]) -> bool:
    found, values = labels.get(said["key"]), said.get("values") or ()
    return {
        "In": found in values,
        "NotIn": found not in values,
        "Exists": found is not None,
        "DoesNotExist": found is None,
    }.get(said["operator"], True)
