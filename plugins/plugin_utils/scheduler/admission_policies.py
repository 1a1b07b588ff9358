# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Admission policies for the QoS levels of pods: rules that pods have to follow, and values that pods get by default.

The rules are one ValidatingAdmissionPolicy, the defaults one MutatingAdmissionPolicy for each level: no webhook server
that could be down. Nodes are selected by spec.nodeSelector: beside a node affinity of the pod both hold. Terms of an
affinity would be alternatives to the pod's own.
"""

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

LEVEL_ANNOTATIONS = ("volcano.sh/qos-level", "openfuyao.com/QoS-level")
"""Volcano's first (pkg/agent/apis/extension/qos.go); a pod that has both has to say the same in them."""
LEVELS = ("HLS", "LS", "BE")
BATCH_RESOURCES = ("kubernetes.io/batch-cpu", "kubernetes.io/batch-memory")
"""volcano pkg/agent/apis/types.go."""


@dataclass(frozen=True)
class LevelDefaults:
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
    levels: tuple[LevelDefaults, ...]


def parse_admission(option: str, given: Mapping[str, Any], classes: Sequence[PriorityClass]) -> Admission:
    """The wanted policies; ProfileError for a level that names a class which this run does not know the value of."""
    known = {each.name: each for each in classes}
    levels: list[LevelDefaults] = []
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
        levels.append(LevelDefaults(each["level"], known.get(name), labels))
    return Admission(
        given["validate"],
        given["mutate"],
        given["action"],
        given["scheduler"],
        tuple(given["oversubscribed_resources"]),
        tuple(given["excluded_namespaces"]),
        tuple(levels),
    )


def level_cel(pod: str) -> str:
    """CEL for the level of ``object`` or ``oldObject``; '' where no annotation names one."""
    expression = "''"
    for key in reversed(LEVEL_ANNOTATIONS):
        notes = f"{pod}.metadata.annotations"
        expression = f"(has({notes}) && '{key}' in {notes} ? {notes}['{key}'] : {expression})"
    return expression


def match_constraints(operations: Sequence[str], excluded: Sequence[str]) -> dict[str, Any]:
    """Pods of all namespaces but some. An annotation cannot be selected by: the match conditions look at it."""
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": list(operations), "resources": ["pods"]}
    found: dict[str, Any] = {"resourceRules": [rule]}
    if excluded:
        but = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": list(excluded)}
        found["namespaceSelector"] = {"matchExpressions": [but]}
    return found


def cel_string(text: str) -> str:
    """A CEL string literal."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def cel_list(texts: Sequence[str]) -> str:
    """A CEL list of strings."""
    return "[" + ", ".join(map(cel_string, texts)) + "]"


def newest_version(kind: str, versions: Sequence[str]) -> str | None:
    """The newest of the versions of a kind that the server has; None where it has none that is good for us."""
    return next((each for each in VERSIONS[kind] if each in versions), None)


def unsupported_reason(kind: str) -> str:
    """Why a kind of policy is left out."""
    return (
        f"the API server serves no {GROUP} {kind} in {' or '.join(VERSIONS[kind])}, which is there since {SINCE[kind]};"
        " nothing of it was made"
    )


VALIDATING_POLICY = "volcano-colocation-levels"
VARIABLES = {
    "level": level_cel("object"),
    "containers": "object.spec.containers + (has(object.spec.initContainers) ? object.spec.initContainers : [])",
}
CONDITIONS = {
    "names-a-level": f"{level_cel('object')} != ''",
    # An update of anything else, such as the removal of a finalizer, must not fail on a pod that was there before.
    "is-new-or-has-another": f"request.operation == 'CREATE' || {level_cel('object')} != {level_cel('oldObject')}",
}


@dataclass(frozen=True)
class ValidationRule:
    """What must be true of a pod, and what its author is told if it is not."""

    expression: str
    message: str


def validation_rules(resources: Sequence[str]) -> tuple[ValidationRule, ...]:
    """All rules; ``resources`` are the oversubscribed ones."""
    batch = cel_list(resources)
    return (
        ValidationRule(
            "variables.level in ['LC', 'HLS', 'LS', 'BE'] || variables.level.matches('^-?[0-7]$')",
            "the QoS level is none of LC, HLS, LS, BE; an agent takes another word for no level at all",
        ),
        ValidationRule(
            "!(has(object.metadata.annotations) && 'volcano.sh/qos-level' in object.metadata.annotations"
            " && 'openfuyao.com/QoS-level' in object.metadata.annotations)"
            " || object.metadata.annotations['volcano.sh/qos-level']"
            " == object.metadata.annotations['openfuyao.com/QoS-level']",
            "volcano.sh/qos-level and openfuyao.com/QoS-level name different levels",
        ),
        ValidationRule(
            "variables.level != 'HLS' || variables.containers.all(c, has(c.resources) && has(c.resources.requests)"
            " && has(c.resources.limits) && ['cpu', 'memory'].all(r, r in c.resources.requests"
            " && r in c.resources.limits"
            " && quantity(c.resources.requests[r]).compareTo(quantity(c.resources.limits[r])) == 0))",
            "HLS: every container needs requests of cpu and memory that equal its limits, so that it is Guaranteed",
        ),
        ValidationRule(
            "variables.level != 'HLS' || variables.containers.all(c, has(c.resources) && has(c.resources.limits)"
            " && 'cpu' in c.resources.limits && quantity(c.resources.limits['cpu']).asApproximateFloat() >= 1.0"
            " && quantity(c.resources.limits['cpu']).asApproximateFloat()"
            " == double(int(quantity(c.resources.limits['cpu']).asApproximateFloat())))",
            "HLS: every container needs whole CPUs, such as 2, which kubelet's static CPU policy can pin",
        ),
        ValidationRule(
            "variables.level != 'HLS' || variables.containers.all(c, !has(c.resources) || !has(c.resources.limits)"
            f" || !c.resources.limits.exists(r, r in {batch}))",
            "HLS: oversubscribed resources are for LS and BE, an agent passes over those of HLS",
        ),
        ValidationRule(
            "variables.level != 'LS' || variables.containers.exists(c, has(c.resources) && has(c.resources.requests)"
            " && ('cpu' in c.resources.requests || 'memory' in c.resources.requests))",
            "LS: a request of cpu or memory is needed; without one kubelet takes the pod for BestEffort, beside BE",
        ),
        ValidationRule(
            "variables.level != 'BE' || !has(object.spec.resources) && variables.containers.all(c, !has(c.resources)"
            f" || (!has(c.resources.requests) || c.resources.requests.all(r, r in {batch} || r == 'ephemeral-storage'))"
            f" && (!has(c.resources.limits) || c.resources.limits.all(r, r in {batch} || r == 'ephemeral-storage')))",
            "BE: only oversubscribed resources may be asked for, neither cpu nor memory nor others"
            " (a LimitRange of the namespace adds them too)",
        ),
    )


def render_validating(wanted: Admission, version: str) -> tuple[dict[str, Any], ...]:
    """The policy, and the binding that puts it in force."""
    api = f"{GROUP}/{version}"
    policy = {
        "apiVersion": api,
        "kind": VALIDATING,
        "metadata": {"name": VALIDATING_POLICY},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": match_constraints(("CREATE", "UPDATE"), wanted.excluded),
            "matchConditions": [{"name": name, "expression": text} for name, text in CONDITIONS.items()],
            "variables": [{"name": name, "expression": text} for name, text in VARIABLES.items()],
            "validations": [
                {"expression": each.expression, "message": each.message} for each in validation_rules(wanted.resources)
            ],
        },
    }
    binding = {
        "apiVersion": api,
        "kind": f"{VALIDATING}Binding",
        "metadata": {"name": VALIDATING_POLICY},
        "spec": {"policyName": VALIDATING_POLICY, "validationActions": [wanted.action]},
    }
    return policy, binding


MUTATING_POLICY_PREFIX = "volcano-colocation-"
DEFAULT_SCHEDULER = "default-scheduler"


def render_mutating(wanted: Admission, version: str) -> tuple[dict[str, Any], ...]:
    """A policy for each level, and the binding that puts it in force."""
    return tuple(each for level in wanted.levels for each in _policy_and_binding(wanted, level, f"{GROUP}/{version}"))


def _policy_and_binding(wanted: Admission, level: LevelDefaults, api: str) -> tuple[dict[str, Any], dict[str, Any]]:
    name = MUTATING_POLICY_PREFIX + level.name.lower()
    spec = {
        "failurePolicy": "Fail",
        "reinvocationPolicy": "IfNeeded",
        "matchConstraints": match_constraints(("CREATE",), wanted.excluded),
        "matchConditions": [{"name": "is-of-the-level", "expression": f"{level_cel('object')} == '{level.name}'"}],
        "mutations": [
            {"patchType": "JSONPatch", "jsonPatch": {"expression": each}}
            for each in patch_expressions(wanted.scheduler, level)
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
    """CEL expressions, each a list of patches that is empty where the pod says something of its own."""
    found = []
    if scheduler:
        own = f"has(object.spec.schedulerName) && object.spec.schedulerName != '{DEFAULT_SCHEDULER}'"
        found.append(f"{own} ? [] : [{_add_operation('/spec/schedulerName', cel_string(scheduler))}]")
    if level.priority_class:
        found.append(_priority(level.priority_class))
    found += [_label(key, value) for key, value in level.labels.items()]
    return tuple(found)


def _priority(wanted: PriorityClass) -> str:
    """All three fields: the admission plugin Priority has filled in two of them already, of the class that the pod had
    then, and refuses a pod whose numbers are not its class's (kubernetes plugin/pkg/admission/priority/admission.go).
    """
    added = (
        _add_operation("/spec/priorityClassName", cel_string(wanted.name)),
        _add_operation("/spec/priority", str(wanted.value)),
        _add_operation("/spec/preemptionPolicy", cel_string(wanted.policy)),
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
