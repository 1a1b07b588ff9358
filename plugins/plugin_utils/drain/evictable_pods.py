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
    """``allowed``: pods that may be evicted now. ``selector`` is None where the budget selects no pod."""

    namespace: str
    name: str
    selector: Object | None
    allowed: int


def parse_budgets(manifests: Iterable[Object], version: str) -> tuple[Budget, ...]:
    """Budgets of policy/v1 or policy/v1beta1. An empty selector selects all pods in v1, and none in v1beta1."""
    return tuple(_parse_budget(manifest, version) for manifest in manifests)


def _parse_budget(manifest: Object, version: str) -> Budget:
    selector = manifest["spec"].get("selector")
    if not selector and version != "v1":
        selector = None
    allowed = (manifest.get("status") or {}).get("disruptionsAllowed") or 0
    return Budget(manifest["metadata"]["namespace"], manifest["metadata"]["name"], selector, int(allowed))


def budgets_of_pod(budgets: Iterable[Budget], namespace: str, labels: Mapping[str, str]) -> tuple[Budget, ...]:
    """The budgets that select a pod with these labels."""
    return tuple(
        budget
        for budget in budgets
        if budget.namespace == namespace and budget.selector is not None and _selector_matches(budget.selector, labels)
    )


def _selector_matches(selector: Object, labels: Mapping[str, str]) -> bool:
    """apimachinery, pkg/apis/meta/v1/helpers.go: all labels and expressions must match."""
    match_labels = (selector.get("matchLabels") or {}).items()
    expressions = selector.get("matchExpressions") or ()
    return all(labels.get(key) == value for key, value in match_labels) and all(
        _meets_expression(expression, labels) for expression in expressions
    )


def _meets_expression(expression: Object, labels: Mapping[str, str]) -> bool:
    value, values = labels.get(expression["key"]), expression.get("values") or ()
    return {
        "In": value in values,
        "NotIn": value not in values,
        "Exists": value is not None,
        "DoesNotExist": value is None,
    }.get(expression["operator"], True)


MIRROR_ANNOTATION = "kubernetes.io/config.mirror"
FINISHED_PHASES = ("Succeeded", "Failed")


class DrainAction(str, Enum):
    """REFUSE: the pod may not be evicted, so the Node is not drained. WAIT: the pod is being deleted already."""

    IGNORE = "ignore"
    EVICT = "evict"
    WAIT = "wait"
    REFUSE = "refuse"


@dataclass(frozen=True)
class EvictionRules:
    """Which pods may be evicted although they, or the files of their emptyDir, are not re-created."""

    bare_pods: bool = False
    empty_dir: bool = False


@dataclass(frozen=True)
class Pod:
    """``why`` is the reason for ``action``; ``blocking_pdb`` is the budget that allows no disruption now."""

    namespace: str
    name: str
    uid: str
    action: DrainAction
    why: str
    blocking_pdb: str = ""

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


def classify_pods(manifests: Iterable[Object], budgets: Iterable[Budget], rules: EvictionRules) -> tuple[Pod, ...]:
    """Every pod of a node with its action, sorted by name."""
    known = tuple(budgets)
    pods = (_classify_pod(manifest, known, rules) for manifest in manifests)
    return tuple(sorted(pods, key=lambda pod: (pod.namespace, pod.name)))


def _classify_pod(manifest: Object, budgets: tuple[Budget, ...], rules: EvictionRules) -> Pod:
    metadata = manifest["metadata"]
    pod_budgets = budgets_of_pod(budgets, metadata["namespace"], metadata.get("labels") or {})
    action, why = _drain_action(manifest, pod_budgets, rules)
    blocking = (
        next((budget.name for budget in pod_budgets if budget.allowed < 1), "") if action is DrainAction.EVICT else ""
    )
    return Pod(metadata["namespace"], metadata["name"], metadata["uid"], action, why, blocking)


def _drain_action(manifest: Object, budgets: tuple[Budget, ...], rules: EvictionRules) -> tuple[DrainAction, str]:
    """As kubectl, pkg/drain/filters.go. Unlike there, a finished pod stays: it uses no resources."""
    metadata = manifest["metadata"]
    owner = next(
        (reference for reference in metadata.get("ownerReferences") or () if reference.get("controller")), None
    )
    if MIRROR_ANNOTATION in (metadata.get("annotations") or {}):
        return DrainAction.IGNORE, "kubelet runs it from a file"
    if (manifest.get("status") or {}).get("phase") in FINISHED_PHASES:
        return DrainAction.IGNORE, "it has finished"
    if owner and owner["kind"] == "DaemonSet":
        return DrainAction.IGNORE, f"the DaemonSet {owner['name']} runs it on every node"
    if metadata.get("deletionTimestamp"):
        return DrainAction.WAIT, "it is being deleted"
    if owner is None and not rules.bare_pods:
        return DrainAction.REFUSE, "no controller would re-create it (colocation_drain_bare_pods)"
    if not rules.empty_dir and any("emptyDir" in volume for volume in manifest["spec"].get("volumes") or ()):
        return DrainAction.REFUSE, "its emptyDir would be lost (colocation_drain_empty_dir)"
    if len(budgets) > 1:
        named = ", ".join(budget.name for budget in budgets)
        return DrainAction.REFUSE, f"no API server evicts a pod with more than one PodDisruptionBudget ({named})"
    return (
        DrainAction.EVICT,
        f"the {owner['kind']} {owner['name']} re-creates it"
        if owner
        else "no controller re-creates it, which is allowed",
    )
