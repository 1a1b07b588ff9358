# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Queues: what is shared by whom, held against each other as Volcano's webhook does.

volcano pkg/webhooks/admission/queues/validate/validate_queue.go, which older releases do not have in full, and which
looks at one queue at a time. Here all of them are looked at before the first is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from ...module_utils.quantity import parse_quantity
from ..kube.api_errors import ClusterError
from ..profile.validators import ProfileError

API, KIND = "scheduling.volcano.sh/v1beta1", "Queue"
ROOT = "root"
AMOUNTS = ("capability", "deserved", "guarantee")
Amounts = Mapping[str, str]


@dataclass(frozen=True)
class Queue:
    """``capability`` is the most it gets, ``guarantee`` is kept free for it, ``deserved`` it may reclaim from others.

    None is a field that is not given, which stays as it is. ``pods``: how many it holds now.
    """

    name: str
    weight: int | None = None
    capability: Amounts = field(default_factory=dict)
    deserved: Amounts = field(default_factory=dict)
    guarantee: Amounts = field(default_factory=dict)
    reclaimable: bool | None = None
    parent: str | None = None
    pods: int = 0

    def manifest(self) -> dict[str, Any]:
        spec: dict[str, Any] = {
            "weight": self.weight,
            "capability": dict(self.capability),
            "deserved": dict(self.deserved),
            "guarantee": {"resource": dict(self.guarantee)} if self.guarantee else {},
            "reclaimable": self.reclaimable,
            "parent": self.parent,
        }
        given = {name: value for name, value in spec.items() if value not in (None, {})}
        return {"apiVersion": API, "kind": KIND, "metadata": {"name": self.name}, "spec": given}

    @property
    def above(self) -> str | None:
        """Its parent, unless that is the root, which has no limits of its own."""
        return None if self.parent in (None, "", ROOT) else self.parent


def parse_queues(option: str, given: Sequence[Mapping[str, Any]]) -> tuple[Queue, ...]:
    """The wanted queues; ProfileError for what is wrong with one by itself."""
    queues: list[Queue] = []
    for number, each in enumerate(given):
        place = f"{option}[{number}]"
        amounts = {name: _amounts(f"{place}.{name}", each.get(name) or {}) for name in AMOUNTS}
        queue = Queue(
            each["name"],
            each.get("weight"),
            amounts["capability"],
            amounts["deserved"],
            amounts["guarantee"],
            each.get("reclaimable"),
            each.get("parent"),
        )
        _check_alone(place, queue)
        if queue.name in {other.name for other in queues}:
            raise ProfileError(f"{place}.name", f"{queue.name} is there twice")
        queues.append(queue)
    return tuple(queues)


def _check_alone(place: str, queue: Queue) -> None:
    if queue.name == ROOT:
        raise ProfileError(f"{place}.name", "the queue root is Volcano's own")
    if queue.weight is not None and queue.weight < 1:
        raise ProfileError(f"{place}.weight", f"{queue.weight} is not positive")
    if queue.parent == queue.name:
        raise ProfileError(f"{place}.parent", f"{queue.name} cannot be its own parent")
    for smaller, larger in (("guarantee", "deserved"), ("deserved", "capability")):
        low, high = getattr(queue, smaller), getattr(queue, larger)
        for resource, amount in low.items():
            if resource in high and parse_quantity(amount) > parse_quantity(high[resource]):
                raise ProfileError(
                    f"{place}.{smaller}.{resource}", f"{amount} is more than {larger} has, {high[resource]}"
                )


def _amounts(place: str, given: Mapping[str, Any]) -> dict[str, str]:
    result = {}
    for resource, value in given.items():
        text = str(value)
        try:
            amount = parse_quantity(text)
        except ValueError as error:
            raise ProfileError(f"{place}.{resource}", str(error)) from error
        if amount < 0:
            raise ProfileError(f"{place}.{resource}", f"{text} is negative")
        if "/" in resource and amount.denominator != 1:
            raise ProfileError(f"{place}.{resource}", f"{text} is no whole number, and extended resources are counted")
        result[resource] = text
    return result


def parse_queue(found: Mapping[str, Any]) -> Queue:
    """A queue of the cluster."""
    spec, status = found.get("spec") or {}, found.get("status") or {}
    texts = {name: {key: str(value) for key, value in _resources(spec, name).items()} for name in AMOUNTS}
    pods = parse_quantity(str((status.get("allocated") or {}).get("pods", 0)))
    return Queue(
        found["metadata"]["name"],
        spec.get("weight"),
        texts["capability"],
        texts["deserved"],
        texts["guarantee"],
        spec.get("reclaimable"),
        spec.get("parent"),
        int(pods),
    )


def _resources(spec: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = spec.get(name) or {}
    return (value.get("resource") or {}) if name == "guarantee" else value


def check_queues(wanted: Sequence[Queue], found: Iterable[Queue], known_fields: frozenset[str]) -> None:
    """ClusterError where the tree of all queues, as it would be, does not add up, with every reason.

    ``known_fields`` are those of the cluster's CRD: a field that it lacks would be dropped without a word.
    """
    there = {each.name: each for each in found}
    tree = {**there, **{each.name: _apply_spec(each, there.get(each.name)) for each in wanted}}
    reasons = [*_unknown_fields(wanted, known_fields), *_broken_parents(wanted, tree)]
    if not reasons:
        names = _affected_queues(wanted, tree)
        reasons = [*_sums(tree, names), *_limits(tree, names), *_guarantees(wanted, tree, known_fields)]
        reasons += _occupied(wanted, there)
    if reasons:
        raise ClusterError(
            f"The queues do not fit: {'; '.join(reasons)}", "Nothing was changed. Correct colocation_queues."
        )


def _apply_spec(wanted: Queue, found: Queue | None) -> Queue:
    """A queue as it will be: what is not given stays."""
    if found is None:
        return wanted
    return Queue(
        wanted.name,
        found.weight if wanted.weight is None else wanted.weight,
        {**found.capability, **wanted.capability},
        {**found.deserved, **wanted.deserved},
        {**found.guarantee, **wanted.guarantee},
        found.reclaimable if wanted.reclaimable is None else wanted.reclaimable,
        found.parent if wanted.parent is None else wanted.parent,
        found.pods,
    )


def _unknown_fields(wanted: Iterable[Queue], known: frozenset[str]) -> Iterator[str]:
    for each in wanted:
        for name in each.manifest()["spec"]:
            if name not in known:
                yield f"{each.name}: this Volcano's queues have no {name}"


def _broken_parents(wanted: Iterable[Queue], tree: Mapping[str, Queue]) -> Iterator[str]:
    for each in wanted:
        seen, above = [each.name], tree[each.name].above
        while above is not None and above in tree and above not in seen:
            seen.append(above)
            above = tree[above].above
        if above is not None:
            line = " below ".join([*seen, above])
            yield f"{line} leads in a circle" if above in seen else f"{seen[-1]}: its parent {above} is no queue"


def _affected_queues(wanted: Iterable[Queue], tree: Mapping[str, Queue]) -> frozenset[str]:
    """Queues of which this run answers for the sums: those it writes, and their parents."""
    names = {each.name for each in wanted}
    return frozenset(names | {above for name in names if (above := tree[name].above) is not None})


def _sums(tree: Mapping[str, Queue], names: frozenset[str]) -> Iterator[str]:
    """validateSiblingsSum and validateChildrenConstraints: what a parent does not have counts as none."""
    for name in sorted(names):
        children = [each for each in tree.values() if each.above == name]
        for kind in ("guarantee", "deserved"):
            own = getattr(tree[name], kind)
            for resource in sorted({each for child in children for each in getattr(child, kind)}):
                total = sum((_amount(getattr(child, kind), resource) for child in children), Fraction(0))
                if total > _amount(own, resource):
                    told = ", ".join(f"{child.name} {getattr(child, kind).get(resource, 0)}" for child in children)
                    amount = own.get(resource, "none")
                    yield f"{name}: {kind} of {resource} is {amount}, less than its children's ({told})"


def _limits(tree: Mapping[str, Queue], names: frozenset[str]) -> Iterator[str]:
    """validateChildAgainstAncestor: the nearest ancestor that limits a resource limits all below it."""
    for each in tree.values():
        for resource, text in each.capability.items():
            limit = _nearest_limit(tree, each, resource)
            if limit and names & {each.name, limit.name} and parse_quantity(text) > _amount(limit.capability, resource):
                yield (
                    f"{each.name}: capability of {resource} is {text}, that of {limit.name} above it"
                    f" {limit.capability[resource]}"
                )


def _nearest_limit(tree: Mapping[str, Queue], queue: Queue, resource: str) -> Queue | None:
    seen, above = {queue.name}, queue.above
    while above is not None and above in tree and above not in seen:
        seen.add(above)
        if _amount(tree[above].capability, resource) > 0:
            return tree[above]
        above = tree[above].above
    return None


def _guarantees(wanted: Iterable[Queue], tree: Mapping[str, Queue], known: frozenset[str]) -> Iterator[str]:
    """validateResourceQuantityOfQueue, where queues have deserved: each guarantee needs as much of it."""
    for each in wanted:
        after = tree[each.name]
        for resource, text in after.guarantee.items():
            if "deserved" in known and _amount(after.deserved, resource) < parse_quantity(text):
                yield f"{each.name}: guarantee of {resource} is {text}, deserved {after.deserved.get(resource, 'none')}"


def _occupied(wanted: Iterable[Queue], there: Mapping[str, Queue]) -> Iterator[str]:
    """validateHierarchicalQueue: a queue that holds pods itself cannot become a parent."""
    parents = {each.above for each in there.values()}
    for each in wanted:
        above = there.get(each.above or "")
        if above is not None and above.name not in parents and above.pods:
            yield f"{each.name}: {above.name} holds {above.pods} pod(s) and cannot become a parent"


def _amount(amounts: Amounts, resource: str) -> Fraction:
    return parse_quantity(amounts.get(resource, "0"))


def parents_first(queues: Sequence[Queue]) -> tuple[Queue, ...]:
    """In an order in which each finds its parent; the tree has no circles."""
    left, done = list(queues), []
    while left:
        waiting = {each.name for each in left}
        ready = [each for each in left if each.above not in waiting]
        done += ready
        left = [each for each in left if each not in ready]
    return tuple(done)


def queues_by_field(queues: Iterable[Queue]) -> dict[str, tuple[str, ...]]:
    """The names of the queues that give each field."""
    result: dict[str, tuple[str, ...]] = {}
    for each in queues:
        for name in each.manifest()["spec"]:
            result[name] = (*result.get(name, ()), each.name)
    return result
