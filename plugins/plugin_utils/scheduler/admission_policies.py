# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Admission policies for the QoS levels of pods: rules that pods have to follow, and values that pods get by default.

The rules (level_rules.py) are one ValidatingAdmissionPolicy, the defaults one MutatingAdmissionPolicy for each level:
they need no webhook server. Nodes are selected by spec.nodeSelector, which applies together with a node affinity of the
pod. Additional terms of an affinity would be alternatives to the pod's own terms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..profile.validators import ProfileError
from .cel_text import cel_string
from .level_rules import VARIABLES, level_cel, level_rules
from .priority_classes import PriorityClass

GROUP = "admissionregistration.k8s.io"
VALIDATING, MUTATING = "ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"
VERSIONS: Mapping[str, tuple[str, ...]] = {VALIDATING: ("v1",), MUTATING: ("v1", "v1beta1", "v1alpha1")}
"""Newest first. Older versions of the validating one are not used: 1.28 served v1beta1 without quantity()."""
SINCE: Mapping[str, str] = {
    VALIDATING: "Kubernetes 1.30",
    MUTATING: "Kubernetes 1.36; 1.32 to 1.35 where its feature gate and its API version are enabled",
}
"""KEP-3488 and KEP-3962."""


@dataclass(frozen=True)
class LevelDefaults:
    """Defaults for pods of a level that do not set these values. ``labels``: of the nodes that they may run on."""

    name: str
    priority_class: PriorityClass | None = None
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Admission:
    """The desired policies; ``action`` is the validation action for a pod that breaks a rule."""

    validate: bool
    mutate: bool
    action: str
    scheduler: str
    resources: tuple[str, ...]
    excluded: tuple[str, ...]
    levels: tuple[LevelDefaults, ...]


def parse_admission(option: str, settings: Mapping[str, Any], classes: Sequence[PriorityClass]) -> Admission:
    """The desired policies; ProfileError for a level whose PriorityClass is not an option of this run."""
    known = {priority_class.name: priority_class for priority_class in classes}
    levels: list[LevelDefaults] = []
    for number, item in enumerate(settings["levels"]):
        name = item.get("priority_class") or ""
        if name and name not in known:
            raise ProfileError(
                f"{option}.levels[{number}].priority_class",
                f"{name} is not in colocation_priority_classes, and a pod gets the value of its class too",
            )
        if item["level"] in {level.name for level in levels}:
            raise ProfileError(f"{option}.levels[{number}].level", f"{item['level']} is defined twice")
        labels = {str(key): str(value) for key, value in (item.get("node_labels") or {}).items()}
        levels.append(LevelDefaults(item["level"], known.get(name), labels))
    return Admission(
        settings["validate"],
        settings["mutate"],
        settings["action"],
        settings["scheduler"],
        tuple(settings["oversubscribed_resources"]),
        tuple(settings["excluded_namespaces"]),
        tuple(levels),
    )


def match_constraints(operations: Sequence[str], excluded: Sequence[str]) -> dict[str, Any]:
    """Pods of all namespaces except some. Annotations cannot be selected here: the match conditions check them."""
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": list(operations), "resources": ["pods"]}
    constraints: dict[str, Any] = {"resourceRules": [rule]}
    if excluded:
        requirement = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": list(excluded)}
        constraints["namespaceSelector"] = {"matchExpressions": [requirement]}
    return constraints


def newest_version(kind: str, versions: Sequence[str]) -> str | None:
    """The newest served version of a kind; None where the server serves none that the collection supports."""
    return next((version for version in VERSIONS[kind] if version in versions), None)


def unsupported_policy(kind: str) -> str:
    """Why a kind of policy is not created."""
    return (
        f"{kind}: the API server does not serve {GROUP} {kind} in {' or '.join(VERSIONS[kind])}, available since"
        f" {SINCE[kind]}; no such policy was created"
    )


VALIDATING_POLICY = "volcano-colocation-levels"
CONDITIONS = {
    "names-a-level": f"{level_cel('object')} != ''",
    # Other updates of existing pods, such as the removal of a finalizer, must not fail.
    "is-new-or-has-another": f"request.operation == 'CREATE' || {level_cel('object')} != {level_cel('oldObject')}",
}


def render_validating(admission: Admission, version: str) -> tuple[dict[str, Any], ...]:
    """The policy and its binding."""
    api = f"{GROUP}/{version}"
    policy = {
        "apiVersion": api,
        "kind": VALIDATING,
        "metadata": {"name": VALIDATING_POLICY},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": match_constraints(("CREATE", "UPDATE"), admission.excluded),
            "matchConditions": [{"name": name, "expression": text} for name, text in CONDITIONS.items()],
            "variables": [{"name": name, "expression": text} for name, text in VARIABLES.items()],
            "validations": [
                {"expression": rule.expression, "message": rule.message} for rule in level_rules(admission.resources)
            ],
        },
    }
    binding = {
        "apiVersion": api,
        "kind": f"{VALIDATING}Binding",
        "metadata": {"name": VALIDATING_POLICY},
        "spec": {"policyName": VALIDATING_POLICY, "validationActions": [admission.action]},
    }
    return policy, binding


MUTATING_POLICY_PREFIX = "volcano-colocation-"
DEFAULT_SCHEDULER = "default-scheduler"


def render_mutating(admission: Admission, version: str) -> tuple[dict[str, Any], ...]:
    """A policy for each level, each with its binding."""
    return tuple(
        manifest
        for level in admission.levels
        for manifest in _policy_and_binding(admission, level, f"{GROUP}/{version}")
    )


def _policy_and_binding(admission: Admission, level: LevelDefaults, api: str) -> tuple[dict[str, Any], dict[str, Any]]:
    name = MUTATING_POLICY_PREFIX + level.name.lower()
    spec = {
        "failurePolicy": "Fail",
        "reinvocationPolicy": "IfNeeded",
        "matchConstraints": match_constraints(("CREATE",), admission.excluded),
        "matchConditions": [{"name": "is-of-the-level", "expression": f"{level_cel('object')} == '{level.name}'"}],
        "mutations": [
            {"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}
            for expression in patch_expressions(admission.scheduler, level)
        ],
    }
    policy = {"apiVersion": api, "kind": MUTATING, "metadata": {"name": name}, "spec": spec}
    binding = {
        "apiVersion": api,
        "kind": f"{MUTATING}Binding",
        "metadata": {"name": name},
        "spec": {"policyName": name},
    }
    return policy, binding


def patch_expressions(scheduler: str, level: LevelDefaults) -> tuple[str, ...]:
    """CEL expressions, each a list of patches that is empty where the pod sets its own value."""
    expressions = []
    if scheduler:
        own = f"has(object.spec.schedulerName) && object.spec.schedulerName != '{DEFAULT_SCHEDULER}'"
        expressions.append(f"{own} ? [] : [{_add_operation('/spec/schedulerName', cel_string(scheduler))}]")
    if level.priority_class:
        expressions.append(_priority(level.priority_class))
    expressions += [_label(key, value) for key, value in level.labels.items()]
    return tuple(expressions)


def _priority(priority_class: PriorityClass) -> str:
    """Set all three fields: the admission plugin Priority has already set two of them from the pod's previous class.

    It refuses a pod whose values differ from its class (kubernetes plugin/pkg/admission/priority/admission.go).
    """
    added = (
        _add_operation("/spec/priorityClassName", cel_string(priority_class.name)),
        _add_operation("/spec/priority", str(priority_class.value)),
        _add_operation("/spec/preemptionPolicy", cel_string(priority_class.policy)),
    )
    own = "has(object.spec.priorityClassName) && object.spec.priorityClassName != ''"
    return f"{own} ? [] : [{', '.join(added)}]"


def _label(key: str, value: str) -> str:
    escaped = key.replace("~", "~0").replace("/", "~1")
    one = _add_operation(f"/spec/nodeSelector/{escaped}", cel_string(value))
    whole = _add_operation("/spec/nodeSelector", f"{{{cel_string(key)}: {cel_string(value)}}}")
    return (
        f"!has(object.spec.nodeSelector) ? [{whole}] : ({cel_string(key)} in object.spec.nodeSelector ? [] : [{one}])"
    )


def _add_operation(path: str, value: str) -> str:
    return f"JSONPatch{{op: 'add', path: {cel_string(path)}, value: {value}}}"
