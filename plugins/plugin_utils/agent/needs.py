# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The verbs that a kubeconfig's user has to have, so that all that are missing are named before the first change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from .journal import NAME as JOURNAL
from .names import CONFIG_MAP
from .objects import access
from .seen import Object, ref
from .steps import Step, Verb


@dataclass(frozen=True)
class Need:
    """One verb; ``namespace`` and ``name`` are empty for all. ResourceAttributes of k8s.io/api authorization/v1."""

    verb: str
    group: str
    resource: str
    subresource: str = ""
    namespace: str = ""
    name: str = ""

    @property
    def of_all(self) -> Need:
        """The same for objects of every name, as most rules grant it."""
        return replace(self, name="")

    def __str__(self) -> str:
        resource = "/".join(filter(None, (self.resource, self.subresource)))
        told = f"{self.verb} {resource}.{self.group}" if self.group else f"{self.verb} {resource}"
        return told + (f" {self.name}" if self.name else "") + (f" in {self.namespace}" if self.namespace else "")


REQUESTS: Mapping[Verb, tuple[str, ...]] = {
    Verb.CREATE: ("get", "create"),
    Verb.REPLACE: ("get", "update"),
    Verb.MERGE: ("patch",),
    Verb.DELETE: ("delete",),
    Verb.STATUS: ("patch",),
}
"""What controller/requests.py asks for the sake of a step."""


def needs(steps: Iterable[Step]) -> tuple[Need, ...]:
    """Of a plan, each once."""
    return tuple(dict.fromkeys(need for step in steps for need in _of(step)))


def _of(step: Step) -> Iterable[Need]:
    verbs = REQUESTS[step.verb]
    if step.verb is Verb.DELETE and step.target[0] == "DaemonSet":
        # It is looked at until it has gone.
        verbs = ("get", *verbs)
    below = "status" if step.verb is Verb.STATUS else ""
    for verb in verbs:
        # What is not there yet has no name that a rule could grant.
        yield _need(verb, step.body, below, "" if verb == "create" else step.target[2])


def _need(verb: str, found: Object, below: str, name: str) -> Need:
    group, _slash, _version = str(found["apiVersion"]).rpartition("/")
    kind, namespace, _name = ref(found)
    return Need(verb, group, f"{kind.lower()}s", below, namespace, name)


def plan_needs(namespace: str) -> tuple[Need, ...]:
    """What is read before there is a plan. ColocationConfigurations are not: their kind may be unknown."""
    return (
        Need("list", "", "nodes"),
        Need("list", "apps", "daemonsets"),
        Need("get", "", "namespaces", name=namespace),
        *(Need("get", "", "configmaps", namespace=namespace, name=each) for each in (CONFIG_MAP, JOURNAL)),
        *(_need("get", each, "", ref(each)[2]) for each in access(namespace)),
    )


def proof_needs(namespace: str, *, trial: bool = False) -> tuple[Need, ...]:
    """What the proof takes beside what was read for the plan; ``trial``: with pods of its own."""
    verbs = ("list", "get", "create", "delete") if trial else ("list",)
    return tuple(Need(verb, "", "pods", namespace=namespace) for verb in verbs)
