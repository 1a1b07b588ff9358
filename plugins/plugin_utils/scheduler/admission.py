# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What both kinds of admission policy share: which pods they are about, and which API versions have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..profile.validators import ProfileError
from .priority_classes import PriorityClass

GROUP = "admissionregistration.k8s.io"
VALIDATING, MUTATING = "ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"
VERSIONS: Mapping[str, tuple[str, ...]] = {VALIDATING: ("v1",), MUTATING: ("v1", "v1beta1", "v1alpha1")}
"""Newest first. Older versions of the validating one are left out: 1.28 served v1beta1 without quantity()."""
SINCE: Mapping[str, str] = {
    VALIDATING: "Kubernetes 1.30",
    MUTATING: "Kubernetes 1.36; 1.32 to 1.35 where its feature gate and its API version are switched on",
}
"""KEP-3488 and KEP-3962."""

ANNOTATIONS = ("volcano.sh/qos-level", "openfuyao.com/QoS-level")
"""Volcano's first (pkg/agent/apis/extension/qos.go); a pod that has both has to say the same in them."""
LEVELS = ("HLS", "LS", "BE")
BATCH = ("kubernetes.io/batch-cpu", "kubernetes.io/batch-memory")
"""volcano pkg/agent/apis/types.go."""


@dataclass(frozen=True)
class Level:
    """What pods of a level get that do not say otherwise. ``labels``: of the nodes that they may run on."""

    name: str
    priority_class: PriorityClass | None = None
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Admission:
    """The wanted policies; ``action`` is what becomes of a pod that breaks a rule."""

    validate: bool
    mutate: bool
    action: str
    scheduler: str
    resources: tuple[str, ...]
    excluded: tuple[str, ...]
    levels: tuple[Level, ...]


def read_admission(option: str, given: Mapping[str, Any], classes: Sequence[PriorityClass]) -> Admission:
    """The wanted policies; ProfileError for a level that names a class which this run does not know the value of."""
    known = {each.name: each for each in classes}
    levels: list[Level] = []
    for number, each in enumerate(given["levels"]):
        name = each.get("priority_class") or ""
        if name and name not in known:
            raise ProfileError(
                f"{option}.levels[{number}].priority_class",
                f"{name} is none of colocation_priority_classes, and a pod gets the class's number along with its name",
            )
        if each["level"] in {level.name for level in levels}:
            raise ProfileError(f"{option}.levels[{number}].level", f"{each['level']} is there twice")
        labels = {str(key): str(value) for key, value in (each.get("node_labels") or {}).items()}
        levels.append(Level(each["level"], known.get(name), labels))
    return Admission(
        given["validate"],
        given["mutate"],
        given["action"],
        given["scheduler"],
        tuple(given["oversubscribed_resources"]),
        tuple(given["excluded_namespaces"]),
        tuple(levels),
    )


def level_of(pod: str) -> str:
    """CEL for the level of ``object`` or ``oldObject``; '' where no annotation names one."""
    expression = "''"
    for key in reversed(ANNOTATIONS):
        notes = f"{pod}.metadata.annotations"
        expression = f"(has({notes}) && '{key}' in {notes} ? {notes}['{key}'] : {expression})"
    return expression


def constraints(operations: Sequence[str], excluded: Sequence[str]) -> dict[str, Any]:
    """Pods of all namespaces but some. An annotation cannot be selected by: the match conditions look at it."""
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": list(operations), "resources": ["pods"]}
    found: dict[str, Any] = {"resourceRules": [rule]}
    if excluded:
        but = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": list(excluded)}
        found["namespaceSelector"] = {"matchExpressions": [but]}
    return found


def quoted(text: str) -> str:
    """A CEL string literal."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def listed(texts: Sequence[str]) -> str:
    """A CEL list of strings."""
    return "[" + ", ".join(map(quoted, texts)) + "]"


def served(kind: str, versions: Sequence[str]) -> str | None:
    """The newest of the versions of a kind that the server has; None where it has none that is good for us."""
    return next((each for each in VERSIONS[kind] if each in versions), None)


def skipped(kind: str) -> str:
    """Why a kind of policy is left out."""
    return (
        f"the API server serves no {GROUP} {kind} in {' or '.join(VERSIONS[kind])}, which is there since {SINCE[kind]};"
        " nothing of it was made"
    )
