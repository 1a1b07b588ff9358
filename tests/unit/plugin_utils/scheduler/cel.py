# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evaluate CEL as an API server does, with cel-python.

This module implements what Kubernetes adds to CEL: quantity() with compareTo and asApproximateFloat
(kubernetes staging/src/k8s.io/apiserver/pkg/cel/library/quantity.go), and the type JSONPatch, whose patches are
applied as RFC 6902 says.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import cache
from typing import Any

import celpy
from celpy import celtypes
from celpy.adapter import json_to_cel

from ansible_collections.volcano.colocation.plugins.module_utils.quantity import parse_quantity

Document = dict[str, Any]


class JSONPatch(celtypes.MessageType):
    """A patch with op, path and value."""


def _quantity(text: celtypes.StringType) -> celtypes.StringType:
    parse_quantity(str(text))
    return text


def _compare(one: celtypes.StringType, other: celtypes.StringType) -> celtypes.IntType:
    first, second = parse_quantity(str(one)), parse_quantity(str(other))
    return celtypes.IntType((first > second) - (first < second))


def _float(text: celtypes.StringType) -> celtypes.DoubleType:
    return celtypes.DoubleType(float(parse_quantity(str(text))))


FUNCTIONS: Mapping[str, Any] = {"quantity": _quantity, "compareTo": _compare, "asApproximateFloat": _float}


@cache
def _program(expression: str) -> celpy.Runner:
    """The parsed expression; parsing is slow."""
    environment = celpy.Environment(annotations={"JSONPatch": JSONPatch})
    return environment.program(environment.compile(expression), functions=dict(FUNCTIONS))


def evaluate(expression: str, **values: Any) -> Any:
    """The value of an expression. An error raises an exception, because the server then refuses the pod."""
    result = _program(expression).evaluate({name: json_to_cel(value) for name, value in values.items()})
    if isinstance(result, Exception):
        raise result
    return result


def matches(policy: Document, pod: Document, old: Document | None = None) -> bool:
    """Whether all match conditions of a policy are true for a new pod, or for a changed one."""
    operation = {"operation": "UPDATE" if old else "CREATE"}
    texts = [condition["expression"] for condition in policy["spec"]["matchConditions"]]
    return all(evaluate(text, object=pod, oldObject=old, request=operation) for text in texts)


def refusals(policy: Document, pod: Document, old: Document | None = None) -> list[str]:
    """The messages of the validations that a pod does not pass."""
    if not matches(policy, pod, old):
        return []
    variables = {
        variable["name"]: evaluate(variable["expression"], object=pod) for variable in policy["spec"]["variables"]
    }
    return [
        validation["message"]
        for validation in policy["spec"]["validations"]
        if not evaluate(validation["expression"], object=pod, variables=variables)
    ]


def mutated(policy: Document, pod: Document) -> Document:
    """A pod after all mutations of a policy, one after the other."""
    pod = copy.deepcopy(pod)
    if matches(policy, pod):
        for mutation in policy["spec"]["mutations"]:
            for patch in evaluate(mutation["jsonPatch"]["expression"], object=pod):
                _apply(pod, _plain(patch))
    return pod


def _apply(pod: Document, patch: Mapping[str, Any]) -> None:
    if patch["op"] != "add":
        raise ValueError(f"{patch['op']} is not one that the policies use")
    *parents, last = (step.replace("~1", "/").replace("~0", "~") for step in patch["path"].split("/")[1:])
    target: Any = pod
    for step in parents:
        target = target[step]
    target[last] = patch["value"]


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return str(value) if isinstance(value, celtypes.StringType) else int(value)
