# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What pods of a level get that do not say otherwise, as one MutatingAdmissionPolicy a level.

The nodes are named by spec.nodeSelector: beside a node affinity that the pod has, both hold. Terms of an affinity
would be alternatives to the pod's own.
"""

from __future__ import annotations

from typing import Any

from .admission import GROUP, MUTATING, Admission, Level, constraints, level_of, quoted
from .priority_classes import PriorityClass

PREFIX = "volcano-colocation-"
DEFAULT_SCHEDULER = "default-scheduler"


def manifests(wanted: Admission, version: str) -> tuple[dict[str, Any], ...]:
    """A policy for each level, and the binding that puts it in force."""
    return tuple(each for level in wanted.levels for each in _pair(wanted, level, f"{GROUP}/{version}"))


def _pair(wanted: Admission, level: Level, api: str) -> tuple[dict[str, Any], dict[str, Any]]:
    name = PREFIX + level.name.lower()
    spec = {
        "failurePolicy": "Fail",
        "reinvocationPolicy": "IfNeeded",
        "matchConstraints": constraints(("CREATE",), wanted.excluded),
        "matchConditions": [{"name": "is-of-the-level", "expression": f"{level_of('object')} == '{level.name}'"}],
        "mutations": [
            {"patchType": "JSONPatch", "jsonPatch": {"expression": each}} for each in patches(wanted.scheduler, level)
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


def patches(scheduler: str, level: Level) -> tuple[str, ...]:
    """CEL expressions, each a list of patches that is empty where the pod says something of its own."""
    found = []
    if scheduler:
        own = f"has(object.spec.schedulerName) && object.spec.schedulerName != '{DEFAULT_SCHEDULER}'"
        found.append(f"{own} ? [] : [{_add('/spec/schedulerName', quoted(scheduler))}]")
    if level.priority_class:
        found.append(_priority(level.priority_class))
    found += [_label(key, value) for key, value in level.labels.items()]
    return tuple(found)


def _priority(wanted: PriorityClass) -> str:
    """All three fields: the admission plugin Priority has filled in two of them already, of the class that the pod had
    then, and refuses a pod whose numbers are not its class's (kubernetes plugin/pkg/admission/priority/admission.go).
    """
    added = (
        _add("/spec/priorityClassName", quoted(wanted.name)),
        _add("/spec/priority", str(wanted.value)),
        _add("/spec/preemptionPolicy", quoted(wanted.policy)),
    )
    own = "has(object.spec.priorityClassName) && object.spec.priorityClassName != ''"
    return f"{own} ? [] : [{', '.join(added)}]"


def _label(key: str, value: str) -> str:
    escaped = key.replace("~", "~0").replace("/", "~1")
    one = _add(f"/spec/nodeSelector/{escaped}", quoted(value))
    whole = _add("/spec/nodeSelector", f"{{{quoted(key)}: {quoted(value)}}}")
    return f"!has(object.spec.nodeSelector) ? [{whole}] : ({quoted(key)} in object.spec.nodeSelector ? [] : [{one}])"


def _add(path: str, value: str) -> str:
    return f"JSONPatch{{op: 'add', path: {quoted(path)}, value: {value}}}"
