# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules that pods of each level keep, as one ValidatingAdmissionPolicy: no server of our own that could be down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .admission import GROUP, VALIDATING, Admission, constraints, level_of, listed

NAME = "volcano-colocation-levels"
VARIABLES = {
    "level": level_of("object"),
    "containers": "object.spec.containers + (has(object.spec.initContainers) ? object.spec.initContainers : [])",
}
CONDITIONS = {
    "names-a-level": f"{level_of('object')} != ''",
    # An update of anything else, such as the removal of a finalizer, must not fail on a pod that was there before.
    "is-new-or-has-another": f"request.operation == 'CREATE' || {level_of('object')} != {level_of('oldObject')}",
}


@dataclass(frozen=True)
class Rule:
    """What must be true of a pod, and what its author is told if it is not."""

    expression: str
    message: str


def rules(resources: Sequence[str]) -> tuple[Rule, ...]:
    """All rules; ``resources`` are the oversubscribed ones."""
    batch = listed(resources)
    return (
        Rule(
            "variables.level in ['LC', 'HLS', 'LS', 'BE'] || variables.level.matches('^-?[0-7]$')",
            "the QoS level is none of LC, HLS, LS, BE; an agent takes another word for no level at all",
        ),
        Rule(
            "!(has(object.metadata.annotations) && 'volcano.sh/qos-level' in object.metadata.annotations"
            " && 'openfuyao.com/QoS-level' in object.metadata.annotations)"
            " || object.metadata.annotations['volcano.sh/qos-level']"
            " == object.metadata.annotations['openfuyao.com/QoS-level']",
            "volcano.sh/qos-level and openfuyao.com/QoS-level name different levels",
        ),
        Rule(
            "variables.level != 'HLS' || variables.containers.all(c, has(c.resources) && has(c.resources.requests)"
            " && has(c.resources.limits) && ['cpu', 'memory'].all(r, r in c.resources.requests"
            " && r in c.resources.limits"
            " && quantity(c.resources.requests[r]).compareTo(quantity(c.resources.limits[r])) == 0))",
            "HLS: every container needs requests of cpu and memory that equal its limits, so that it is Guaranteed",
        ),
        Rule(
            "variables.level != 'HLS' || variables.containers.all(c, has(c.resources) && has(c.resources.limits)"
            " && 'cpu' in c.resources.limits && quantity(c.resources.limits['cpu']).asApproximateFloat() >= 1.0"
            " && quantity(c.resources.limits['cpu']).asApproximateFloat()"
            " == double(int(quantity(c.resources.limits['cpu']).asApproximateFloat())))",
            "HLS: every container needs whole CPUs, such as 2, which kubelet's static CPU policy can pin",
        ),
        Rule(
            "variables.level != 'HLS' || variables.containers.all(c, !has(c.resources) || !has(c.resources.limits)"
            f" || !c.resources.limits.exists(r, r in {batch}))",
            "HLS: oversubscribed resources are for LS and BE, an agent passes over those of HLS",
        ),
        Rule(
            "variables.level != 'LS' || variables.containers.exists(c, has(c.resources) && has(c.resources.requests)"
            " && ('cpu' in c.resources.requests || 'memory' in c.resources.requests))",
            "LS: a request of cpu or memory is needed; without one kubelet takes the pod for BestEffort, beside BE",
        ),
        Rule(
            "variables.level != 'BE' || !has(object.spec.resources) && variables.containers.all(c, !has(c.resources)"
            f" || (!has(c.resources.requests) || c.resources.requests.all(r, r in {batch} || r == 'ephemeral-storage'))"
            f" && (!has(c.resources.limits) || c.resources.limits.all(r, r in {batch} || r == 'ephemeral-storage')))",
            "BE: only oversubscribed resources may be asked for, neither cpu nor memory nor others"
            " (a LimitRange of the namespace adds them too)",
        ),
    )


def manifests(wanted: Admission, version: str) -> tuple[dict[str, Any], ...]:
    """The policy, and the binding that puts it in force."""
    api = f"{GROUP}/{version}"
    policy = {
        "apiVersion": api,
        "kind": VALIDATING,
        "metadata": {"name": NAME},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": constraints(("CREATE", "UPDATE"), wanted.excluded),
            "matchConditions": [{"name": name, "expression": text} for name, text in CONDITIONS.items()],
            "variables": [{"name": name, "expression": text} for name, text in VARIABLES.items()],
            "validations": [
                {"expression": each.expression, "message": each.message} for each in rules(wanted.resources)
            ],
        },
    }
    binding = {
        "apiVersion": api,
        "kind": f"{VALIDATING}Binding",
        "metadata": {"name": NAME},
        "spec": {"policyName": NAME, "validationActions": [wanted.action]},
    }
    return policy, binding
