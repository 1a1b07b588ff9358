# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is written to the API server, one object at a time, in the order of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from .compare import before, stamped
from .seen import Object, Ref, named, ref


class Verb(str, Enum):
    """How an object is written. STATUS is a patch of the subresource status."""

    CREATE = "create"
    REPLACE = "update"
    MERGE = "patch"
    DELETE = "delete"
    STATUS = "patch the status of"


@dataclass(frozen=True)
class Step:
    """``body`` is what is sent; ``before`` and ``after`` are what a diff shows, None for nothing."""

    verb: Verb
    body: Mapping[str, Any]
    before: Any
    after: Any

    @property
    def target(self) -> Ref:
        return ref(self.body)

    def __str__(self) -> str:
        return f"{self.verb.value} {named(self.target)}"


@dataclass(frozen=True)
class Plan:
    """``pending`` is what was left for want of a permission, ``notes`` what somebody should know."""

    steps: tuple[Step, ...] = ()
    pending: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def create_or_replace(live: Object | None, wanted: Object) -> Step:
    """Of an object that is wholly ours. A ServiceAccount is merged: the server keeps names of tokens in it."""
    if live is None:
        return Step(Verb.CREATE, stamped(wanted), None, dict(wanted))
    verb = Verb.MERGE if wanted["kind"] == "ServiceAccount" else Verb.REPLACE
    return Step(verb, stamped(wanted), before(live, wanted), dict(wanted))


def merge(body: Object, old: Any, new: Any) -> Step:
    return Step(Verb.MERGE, body, old, new)


def delete(live: Object) -> Step:
    """``live`` or its kind and name."""
    kind, namespace, name = ref(live)
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    body = {"apiVersion": live["apiVersion"], "kind": kind, "metadata": metadata}
    return Step(Verb.DELETE, body, body, None)


def node_labels(name: str, old: Mapping[str, str | None], new: Mapping[str, str | None]) -> Step:
    """Labels of a Node; None takes one away."""
    return merge(
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": dict(new)}},
        {"labels": {key: value for key, value in old.items() if value is not None}},
        {"labels": {key: value for key, value in new.items() if value is not None}},
    )
