# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Queues: their resources, and the checks of Volcano's webhook on all queues together.

volcano pkg/webhooks/admission/queues/validate/validate_queue.go checks one queue at a time, and older releases have
only some of its checks. Here all queues are checked before the first is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from ...module_utils.errors import value_problem
from ...module_utils.quantity import parse_quantity
from ..kube.api_errors import ClusterError
from ..profile.validators import ProfileError

API, KIND = "scheduling.volcano.sh/v1beta1", "Queue"
ROOT = "root"
AMOUNTS = ("capability", "deserved", "guarantee")
Amounts = Mapping[str, str]


@dataclass(frozen=True)
class Queue:
    """``capability`` is its limit, ``guarantee`` is reserved for it, ``deserved`` it may reclaim from other queues.

    A field that is None keeps its value. ``pods``: how many it has now. ``closed``: it takes no jobs and has none.
    """

    name: str
    weight: int | None = None
    capability: Amounts = field(default_factory=dict)
    deserved: Amounts = field(default_factory=dict)
    guarantee: Amounts = field(default_factory=dict)
    reclaimable: bool | None = None
    parent: str | None = None
    pods: int = 0
    closed: bool = False

    def manifest(self) -> dict[str, Any]:
        spec: dict[str, Any] = {
            "weight": self.weight,
            "capability": dict(self.capability),
            "deserved": dict(self.deserved),
            "guarantee": {"resource": dict(self.guarantee)} if self.guarantee else {},
            "reclaimable": self.reclaimable,
            "parent": self.parent,
        }
        fields = {name: value for name, value in spec.items() if value not in (None, {})}
        return {"apiVersion": API, "kind": KIND, "metadata": {"name": self.name}, "spec": fields}

    @property
    def limiting_parent(self) -> str | None:
        """Its parent, unless that is the root, which has no limits."""
        return None if self.parent in (None, "", ROOT) else self.parent


def parse_queues(option: str, items: Sequence[Mapping[str, Any]]) -> tuple[Queue, ...]:
    """The desired queues; ProfileError for a queue that is invalid by itself."""
    queues: list[Queue] = []
    for number, item in enumerate(items):
        location = f"{option}[{number}]"
        amounts = {name: _amounts(f"{location}.{name}", item.get(name) or {}) for name in AMOUNTS}
        queue = Queue(
            item["name"],
            item.get("weight"),
            amounts["capability"],
            amounts["deserved"],
            amounts["guarantee"],
            item.get("reclaimable"),
            item.get("parent"),
        )
        _check_alone(location, queue)
        if queue.name in {other.name for other in queues}:
            raise ProfileError(f"{location}.name", f"{queue.name} is defined twice")
        queues.append(queue)
    return tuple(queues)


def _check_alone(location: str, queue: Queue) -> None:
    if queue.name == ROOT:
        raise ProfileError(f"{location}.name", "the queue root belongs to Volcano")
    if queue.weight is not None and queue.weight < 1:
        raise ProfileError(f"{location}.weight", f"{queue.weight} is not positive")
    if queue.parent == queue.name:
        raise ProfileError(f"{location}.parent", f"{queue.name} cannot be its own parent")
    for smaller, larger in (("guarantee", "deserved"), ("deserved", "capability")):
        low, high = getattr(queue, smaller), getattr(queue, larger)
        for resource, amount in low.items():
            if resource in high and parse_quantity(amount) > parse_quantity(high[resource]):
                raise ProfileError(
                    f"{location}.{smaller}.{resource}", f"{amount} is more than {larger} has, {high[resource]}"
                )


def _amounts(location: str, values: Mapping[str, Any]) -> dict[str, str]:
    result = {}
    for resource, value in values.items():
        text = str(value)
        try:
            amount = parse_quantity(text)
        except ValueError as error:
            raise ProfileError(f"{location}.{resource}", value_problem(error)) from error
        if amount < 0:
            raise ProfileError(f"{location}.{resource}", f"{text} is negative")
        if "/" in resource and amount.denominator != 1:
            raise ProfileError(f"{location}.{resource}", f"{text} is not a whole number, as extended resources need")
        result[resource] = text
    return result


def parse_queue(manifest: Mapping[str, Any]) -> Queue:
    """A queue of the cluster."""
    spec, status = manifest.get("spec") or {}, manifest.get("status") or {}
    texts = {name: {key: str(value) for key, value in _resources(spec, name).items()} for name in AMOUNTS}
    pods = parse_quantity(str((status.get("allocated") or {}).get("pods", 0)))
    return Queue(
        manifest["metadata"]["name"],
        spec.get("weight"),
        texts["capability"],
        texts["deserved"],
        texts["guarantee"],
        spec.get("reclaimable"),
        spec.get("parent"),
        int(pods),
        status.get("state") == "Closed",
    )


def _resources(spec: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = spec.get(name) or {}
    return (value.get("resource") or {}) if name == "guarantee" else value


def check_queues(desired: Sequence[Queue], observed: Iterable[Queue], known_fields: frozenset[str]) -> None:
    """ClusterError with every reason why the tree of all queues would be inconsistent after the change.

    ``known_fields`` are those of the cluster's CRD: an API server silently drops a field that the CRD lacks.
    """
    existing = {queue.name: queue for queue in observed}
    tree = queues_after(desired, existing)
    reasons = [*_unknown_fields(desired, known_fields), *_broken_parents(desired, tree)]
    if not reasons:
        names = _affected_queues(desired, tree)
        reasons = [*_sums(tree, names), *_limits(tree, names), *_guarantees(desired, tree, known_fields)]
        reasons += _occupied(desired, existing)
    if reasons:
        raise ClusterError(
            f"The queues are inconsistent: {'; '.join(reasons)}", "Nothing was changed. Correct colocation_queues."
        )


def queues_after(desired: Iterable[Queue], existing: Mapping[str, Queue]) -> dict[str, Queue]:
    """All queues after the change, by name."""
    return {**existing, **{queue.name: _apply_spec(queue, existing.get(queue.name)) for queue in desired}}


def _apply_spec(desired: Queue, current: Queue | None) -> Queue:
    """A queue after the change: fields that are not set stay."""
    if current is None:
        return desired
    return Queue(
        desired.name,
        current.weight if desired.weight is None else desired.weight,
        {**current.capability, **desired.capability},
        {**current.deserved, **desired.deserved},
        {**current.guarantee, **desired.guarantee},
        current.reclaimable if desired.reclaimable is None else desired.reclaimable,
        current.parent if desired.parent is None else desired.parent,
        current.pods,
        current.closed,
    )


def _unknown_fields(desired: Iterable[Queue], known: frozenset[str]) -> Iterator[str]:
    for queue in desired:
        for name in queue.manifest()["spec"]:
            if name not in known:
                yield f"{queue.name}: the CRD of queues in this cluster has no field {name}"


def _broken_parents(desired: Iterable[Queue], tree: Mapping[str, Queue]) -> Iterator[str]:
    for queue in desired:
        ancestors, parent = [queue.name], tree[queue.name].limiting_parent
        while parent is not None and parent in tree and parent not in ancestors:
            ancestors.append(parent)
            parent = tree[parent].limiting_parent
        if parent is not None:
            line = " below ".join([*ancestors, parent])
            yield (
                f"{line} is a cycle" if parent in ancestors else f"{ancestors[-1]}: its parent {parent} is not a queue"
            )


def _affected_queues(desired: Iterable[Queue], tree: Mapping[str, Queue]) -> frozenset[str]:
    """Queues whose sums are checked: those that this run writes, and their parents."""
    names = {queue.name for queue in desired}
    return frozenset(names | {parent for name in names if (parent := tree[name].limiting_parent) is not None})


def _sums(tree: Mapping[str, Queue], names: frozenset[str]) -> Iterator[str]:
    """validateSiblingsSum and validateChildrenConstraints: a resource that the parent lacks counts as zero."""
    for name in sorted(names):
        children = [queue for queue in tree.values() if queue.limiting_parent == name]
        for kind in ("guarantee", "deserved"):
            own = getattr(tree[name], kind)
            for resource in sorted({key for child in children for key in getattr(child, kind)}):
                total = sum((_amount(getattr(child, kind), resource) for child in children), Fraction(0))
                if total > _amount(own, resource):
                    amounts = ", ".join(f"{child.name} {getattr(child, kind).get(resource, 0)}" for child in children)
                    amount = own.get(resource, "none")
                    yield f"{name}: {kind} of {resource} is {amount}, less than the sum of its children ({amounts})"


def _limits(tree: Mapping[str, Queue], names: frozenset[str]) -> Iterator[str]:
    """validateChildAgainstAncestor: the nearest ancestor with a limit of a resource limits its descendants."""
    for queue in tree.values():
        for resource, text in queue.capability.items():
            limit = _nearest_limit(tree, queue, resource)
            if (
                limit
                and names & {queue.name, limit.name}
                and parse_quantity(text) > _amount(limit.capability, resource)
            ):
                yield (
                    f"{queue.name}: capability of {resource} is {text}, more than that of its ancestor {limit.name},"
                    f" {limit.capability[resource]}"
                )


def _nearest_limit(tree: Mapping[str, Queue], queue: Queue, resource: str) -> Queue | None:
    visited, parent = {queue.name}, queue.limiting_parent
    while parent is not None and parent in tree and parent not in visited:
        visited.add(parent)
        if _amount(tree[parent].capability, resource) > 0:
            return tree[parent]
        parent = tree[parent].limiting_parent
    return None


def _guarantees(desired: Iterable[Queue], tree: Mapping[str, Queue], known: frozenset[str]) -> Iterator[str]:
    """validateResourceQuantityOfQueue: where queues have deserved, it must not be less than the guarantee."""
    for queue in desired:
        after = tree[queue.name]
        for resource, text in after.guarantee.items():
            if "deserved" in known and _amount(after.deserved, resource) < parse_quantity(text):
                deserved = after.deserved.get(resource, "none")
                yield f"{queue.name}: guarantee of {resource} is {text}, more than deserved ({deserved})"


def _occupied(desired: Iterable[Queue], existing: Mapping[str, Queue]) -> Iterator[str]:
    """validateHierarchicalQueue: a queue that has pods itself cannot become a parent."""
    parents = {queue.limiting_parent for queue in existing.values()}
    for queue in desired:
        parent = existing.get(queue.limiting_parent or "")
        if parent is not None and parent.name not in parents and parent.pods:
            yield f"{queue.name}: {parent.name} has {parent.pods} pod(s) and cannot become a parent"


def _amount(amounts: Amounts, resource: str) -> Fraction:
    return parse_quantity(amounts.get(resource, "0"))


def parents_first(queues: Sequence[Queue]) -> tuple[Queue, ...]:
    """The queues with parents before their children; the tree has no cycles."""
    remaining, ordered = list(queues), []
    while remaining:
        waiting = {queue.name for queue in remaining}
        ready = [queue for queue in remaining if queue.limiting_parent not in waiting]
        ordered += ready
        remaining = [queue for queue in remaining if queue not in ready]
    return tuple(ordered)


def queues_by_field(queues: Iterable[Queue]) -> dict[str, tuple[str, ...]]:
    """The names of the queues that set each field."""
    result: dict[str, tuple[str, ...]] = {}
    for queue in queues:
        for name in queue.manifest()["spec"]:
            result[name] = (*result.get(name, ()), queue.name)
    return result
