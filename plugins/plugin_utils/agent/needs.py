# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The verbs that a kubeconfig's user has to have, so that all that are missing are named before the first change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..kube.objects import Ref
from ..kube.permissions import RequiredPermission
from .journal import NAME as JOURNAL
from .names import CONFIG_MAP
from .objects import access
from .steps import Step, Verb

REQUESTS: Mapping[Verb, tuple[str, ...]] = {
    Verb.CREATE: ("create",),
    Verb.REPLACE: ("get", "update"),
    Verb.MERGE: ("patch",),
    Verb.DELETE: ("delete",),
    Verb.STATUS: ("patch",),
}
"""What agent_cluster.py sends for the sake of a step."""


def needs(steps: Iterable[Step]) -> tuple[RequiredPermission, ...]:
    """Of a plan, each once."""
    return tuple(dict.fromkeys(need for step in steps for need in _of(step)))


def _of(step: Step) -> Iterable[RequiredPermission]:
    verbs = REQUESTS[step.verb]
    if step.verb is Verb.DELETE and step.target[0] == "DaemonSet":
        # It is looked at until it has gone.
        verbs = ("get", *verbs)
    below = "status" if step.verb is Verb.STATUS else ""
    for verb in verbs:
        yield RequiredPermission.of(verb, Ref.of(step.body), below)


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
