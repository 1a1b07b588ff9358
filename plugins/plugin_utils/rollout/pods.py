# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a drain does with each pod of a node: the rules of kubectl drain, which nobody is surprised by."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from ..kube.objects import Object
from .budgets import Budget, covering

MIRROR = "kubernetes.io/config.mirror"
FINISHED = ("Succeeded", "Failed")


class Fate(str, Enum):
    """STUCK: it may not be evicted. LEAVING: it is about to end already."""

    STAY = "ignore"
    EVICT = "evict"
    LEAVING = "wait"
    STUCK = "refuse"


@dataclass(frozen=True)
class Rules:
    """Which pods may go although nobody brings them, or their files, back."""

    bare_pods: bool = False
    empty_dir: bool = False


@dataclass(frozen=True)
class Pod:
    """``why`` is the reason for its fate; ``waits_for`` is the budget that allows no disruption now."""

    namespace: str
    name: str
    uid: str
    fate: Fate
    why: str
    waits_for: str = ""

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


def judge(found: Iterable[Object], budgets: Iterable[Budget], rules: Rules) -> tuple[Pod, ...]:
    """Every pod of a node with its fate, by name."""
    known = tuple(budgets)
    pods = (_judged(each, known, rules) for each in found)
    return tuple(sorted(pods, key=lambda pod: (pod.namespace, pod.name)))


def _judged(found: Object, budgets: tuple[Budget, ...], rules: Rules) -> Pod:
    metadata = found["metadata"]
    over = covering(budgets, metadata["namespace"], metadata.get("labels") or {})
    fate, why = _fate(found, over, rules)
    waits = next((budget.name for budget in over if budget.allowed < 1), "") if fate is Fate.EVICT else ""
    return Pod(metadata["namespace"], metadata["name"], metadata["uid"], fate, why, waits)


def _fate(found: Object, over: tuple[Budget, ...], rules: Rules) -> tuple[Fate, str]:
    """kubectl, pkg/drain/filters.go. Other than there, a pod that has finished is left: it holds nothing."""
    metadata = found["metadata"]
    owner = next((each for each in metadata.get("ownerReferences") or () if each.get("controller")), None)
    if MIRROR in (metadata.get("annotations") or {}):
        return Fate.STAY, "kubelet runs it from a file"
    if (found.get("status") or {}).get("phase") in FINISHED:
        return Fate.STAY, "it has finished"
    if owner and owner["kind"] == "DaemonSet":
        return Fate.STAY, f"the DaemonSet {owner['name']} runs it on every node"
    if metadata.get("deletionTimestamp"):
        return Fate.LEAVING, "it is being deleted"
    if owner is None and not rules.bare_pods:
        return Fate.STUCK, "no controller would bring it back (colocation_drain_bare_pods)"
    if not rules.empty_dir and any("emptyDir" in each for each in found["spec"].get("volumes") or ()):
        return Fate.STUCK, "its emptyDir would be lost (colocation_drain_empty_dir)"
    if len(over) > 1:
        named = ", ".join(each.name for each in over)
        return Fate.STUCK, f"no API server evicts a pod with more than one PodDisruptionBudget ({named})"
    return Fate.EVICT, f"the {owner['kind']} {owner['name']} brings it back" if owner else "it may go for good"
