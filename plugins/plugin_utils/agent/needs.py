# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The verbs that a kubeconfig's user has to have, so that all that are missing are named before the first change."""

from __future__ import annotations

from collections.abc import Iterable

from ..kube.changes import ObjectChange, Operation, required_permissions
from ..kube.objects import Ref
from ..kube.permissions import RequiredPermission
from .journal import NAME as JOURNAL
from .names import CONFIG_MAP
from .objects import access


def needs(steps: Iterable[ObjectChange]) -> tuple[RequiredPermission, ...]:
    """Of a plan, each once. A DaemonSet that is deleted is looked at until it has gone."""
    found = tuple(steps)
    watched = (each.ref for each in found if each.operation is Operation.DELETE and each.ref.kind == "DaemonSet")
    permissions = (*(RequiredPermission.of("get", ref) for ref in watched), *required_permissions(found))
    return tuple(dict.fromkeys(permissions))


def plan_needs(namespace: str) -> tuple[RequiredPermission, ...]:
    """What is read before there is a plan. ColocationConfigurations are not: their kind may be unknown."""
    return (
        RequiredPermission("list", "", "nodes"),
        RequiredPermission("list", "apps", "daemonsets"),
        RequiredPermission("get", "", "namespaces", name=namespace),
        *(
            RequiredPermission("get", "", "configmaps", namespace=namespace, name=each)
            for each in (CONFIG_MAP, JOURNAL)
        ),
        *(RequiredPermission.of("get", Ref.of(each)) for each in access(namespace)),
    )


def proof_needs(namespace: str, *, trial: bool = False) -> tuple[RequiredPermission, ...]:
    """What the proof takes beside what was read for the plan; ``trial``: with pods of its own."""
    verbs = ("list", "get", "create", "delete") if trial else ("list",)
    return tuple(RequiredPermission(verb, "", "pods", namespace=namespace) for verb in verbs)
