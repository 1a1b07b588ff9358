# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a drain does with each pod of a Node: the rules of kubectl drain, and PodDisruptionBudgets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from ..kube.objects import Object


@dataclass(frozen=True)
class Budget:
    """``allowed``: pods that may go now. ``selector`` is None where the budget is for no pod."""

    namespace: str
    name: str
    selector: Object | None
    allowed: int


def parse_budgets(found: Iterable[Object], version: str) -> tuple[Budget, ...]:
    """Budgets of policy/v1 or policy/v1beta1. An empty selector is for all pods in v1, and for none before."""
    return tuple(_parse_budget(each, version) for each in found)


def _parse_budget(found: Object, version: str) -> Budget:
    selector = found["spec"].get("selector")
    if not selector and version != "v1":
        selector = None
    allowed = (found.get("status") or {}).get("disruptionsAllowed") or 0
    return Budget(found["metadata"]["namespace"], found["metadata"]["name"], selector, int(allowed))


def budgets_of_pod(budgets: Iterable[Budget], namespace: str, labels: Mapping[str, str]) -> tuple[Budget, ...]:
    """The budgets that a pod with these labels is under."""
    return tuple(
        each
        for each in budgets
        if each.namespace == namespace and each.selector is not None and _selector_matches(each.selector, labels)
    )


def _selector_matches(selector: Object, labels: Mapping[str, str]) -> bool:
    """apimachinery, pkg/apis/meta/v1/helpers.go: all that is said has to hold."""
    wanted = (selector.get("matchLabels") or {}).items()
    said = selector.get("matchExpressions") or ()
    return all(labels.get(key) == value for key, value in wanted) and all(
        _meets_expression(each, labels) for each in said
    )


def _meets_expression(said: Object, labels: Mapping[str, str]) -> bool:
    found, values = labels.get(said["key"]), said.get("values") or ()
    return {
        "In": found in values,
        "NotIn": found not in values,
        "Exists": found is not None,
        "DoesNotExist": found is None,
    }.get(said["operator"], True)


MIRROR_ANNOTATION = "kubernetes.io/config.mirror"
FINISHED_PHASES = ("Succeeded", "Failed")


class DrainAction(str, Enum):
    """STUCK: it may not be evicted. LEAVING: it is about to end already."""

    IGNORE = "ignore"
    EVICT = "evict"
    WAIT = "wait"
    REFUSE = "refuse"


@dataclass(frozen=True)
class EvictionRules:
    """Which pods may go although nobody brings them, or their files, back."""

    bare_pods: bool = False
    empty_dir: bool = False


@dataclass(frozen=True)
class Pod:
    """``why`` is the reason for its fate; ``waits_for`` is the budget that allows no disruption now."""

    namespace: str
    name: str
    uid: str
    action: DrainAction
    why: str
    blocking_pdb: str = ""

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


def classify_pods(found: Iterable[Object], budgets: Iterable[Budget], rules: EvictionRules) -> tuple[Pod, ...]:
    """Every pod of a node with its fate, by name."""
    known = tuple(budgets)
    pods = (_classify_pod(each, known, rules) for each in found)
    return tuple(sorted(pods, key=lambda pod: (pod.namespace, pod.name)))


def _classify_pod(found: Object, budgets: tuple[Budget, ...], rules: EvictionRules) -> Pod:
    metadata = found["metadata"]
    over = budgets_of_pod(budgets, metadata["namespace"], metadata.get("labels") or {})
    fate, why = _drain_action(found, over, rules)
    waits = next((budget.name for budget in over if budget.allowed < 1), "") if fate is DrainAction.EVICT else ""
    return Pod(metadata["namespace"], metadata["name"], metadata["uid"], fate, why, waits)


def _drain_action(found: Object, over: tuple[Budget, ...], rules: EvictionRules) -> tuple[DrainAction, str]:
    """kubectl, pkg/drain/filters.go. Other than there, a pod that has finished is left: it holds nothing."""
    metadata = found["metadata"]
    owner = next((each for each in metadata.get("ownerReferences") or () if each.get("controller")), None)
    if MIRROR_ANNOTATION in (metadata.get("annotations") or {}):
        return DrainAction.IGNORE, "kubelet runs it from a file"
    if (found.get("status") or {}).get("phase") in FINISHED_PHASES:
        return DrainAction.IGNORE, "it has finished"
    if owner and owner["kind"] == "DaemonSet":
        return DrainAction.IGNORE, f"the DaemonSet {owner['name']} runs it on every node"
    if metadata.get("deletionTimestamp"):
        return DrainAction.WAIT, "it is being deleted"
    if owner is None and not rules.bare_pods:
        return DrainAction.REFUSE, "no controller would bring it back (colocation_drain_bare_pods)"
    if not rules.empty_dir and any("emptyDir" in each for each in found["spec"].get("volumes") or ()):
        return DrainAction.REFUSE, "its emptyDir would be lost (colocation_drain_empty_dir)"
    if len(over) > 1:
        named = ", ".join(each.name for each in over)
        return DrainAction.REFUSE, f"no API server evicts a pod with more than one PodDisruptionBudget ({named})"
    return DrainAction.EVICT, f"the {owner['kind']} {owner['name']} brings it back" if owner else "it may go for good"
