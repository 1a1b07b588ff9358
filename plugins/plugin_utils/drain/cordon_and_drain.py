# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drain a Node by evictions and uncordon it. Nothing is forced: a pod that cannot be evicted ends the drain.

An annotation records that a rollout cordoned the Node. A rollout uncordons only such Nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ..kube.api_errors import ClusterError
from ..kube.objects import Object
from ..kube.wait import Readiness, WaitOptions, is_condition_true, poll
from .evictable_pods import DrainAction, Pod

CORDON_ANNOTATION = "colocation.volcano.sh/cordoned"
"""An annotation of a Node that a rollout cordoned, with the time. It stays when the controller is killed."""


def is_cordoned(node: Mapping[str, Any]) -> bool:
    return bool((node.get("spec") or {}).get("unschedulable"))


def is_own_cordon(node: Mapping[str, Any]) -> bool:
    """True when a rollout cordoned the Node: this one or an interrupted one."""
    return CORDON_ANNOTATION in (node["metadata"].get("annotations") or {})


def cordon_patch(node: Mapping[str, Any], now: str) -> dict[str, Any] | None:
    """The merge patch that cordons a Node; None where it is cordoned already."""
    return (
        None
        if is_cordoned(node)
        else _node_patch(node, {"annotations": {CORDON_ANNOTATION: now}}, {"spec": {"unschedulable": True}})
    )


def uncordon_patch(node: Mapping[str, Any]) -> dict[str, Any] | None:
    """The merge patch that removes a rollout's cordon; None where no rollout cordoned the Node."""
    return (
        _node_patch(node, {"annotations": {CORDON_ANNOTATION: None}}, {"spec": {"unschedulable": None}})
        if is_own_cordon(node)
        else None
    )


def _node_patch(node: Mapping[str, Any], metadata: dict[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
    """The patch of a Node; the API server refuses it if the Node has changed since it was read."""
    return {"metadata": {"resourceVersion": node["metadata"]["resourceVersion"], **metadata}, **fields}


def is_node_ready(node: Mapping[str, Any]) -> bool:
    return is_condition_true(node, "Ready")


MAX_REASONS = 4
POLL_SECONDS = 5.0
"""Seconds between two checks of the pods, and of the Node."""
PATCH_ATTEMPTS = 5
"""A kubelet updates its Node every few seconds, so that a patch may need several attempts."""


class DrainApi(Protocol):
    """The requests of a drain to an API server; every method raises ClusterError if the server does not answer."""

    def node(self, name: str) -> Object: ...

    def pods(self, name: str) -> tuple[Pod, ...]: ...

    def patch(self, name: str, body: Object) -> bool:
        """False where another client changed the Node since it was read."""

    def evict(self, pod: Pod) -> str:
        """Evict the pod; the reason why it cannot be evicted now, empty where it was."""


@dataclass(frozen=True)
class DrainResult:
    """``reason`` says why the Node is not drained, empty where it is; ``cordoned``: by the rollout."""

    reason: str
    cordoned: bool
    pods: tuple[Pod, ...]
    evicted: tuple[str, ...] = ()


def preview_drain(node: Object, pods: tuple[Pod, ...]) -> DrainResult:
    """The result of a drain, as far as it is known in advance."""
    evictable = tuple(map(str, pods_with(pods, DrainAction.EVICT)))
    return DrainResult(_refusal_reasons(pods), is_own_cordon(node) or not is_cordoned(node), pods, evictable)


def pods_with(pods: tuple[Pod, ...], *actions: DrainAction) -> tuple[Pod, ...]:
    return tuple(pod for pod in pods if pod.action in actions)


def _refusal_reasons(pods: tuple[Pod, ...]) -> str:
    return _join_reasons(f"{pod}: {pod.why}" for pod in pods_with(pods, DrainAction.REFUSE))


def _join_reasons(reasons: Any) -> str:
    texts = list(reasons)
    more = [f"and {len(texts) - MAX_REASONS} more"] if len(texts) > MAX_REASONS else []
    return "; ".join([*texts[:MAX_REASONS], *more])


def drain_node(api: DrainApi, name: str, options: WaitOptions, stamp: Callable[[], str]) -> DrainResult:
    """Cordon the Node and evict its pods; uncordon it, with the reason in the result, if that fails or takes too long.

    ``stamp`` returns the current time for the annotation.
    """
    first = api.pods(name)
    reason = _refusal_reasons(first)
    if reason:
        return DrainResult(reason, cordoned=False, pods=first)
    cordoned = _patch_node(api, name, lambda node: cordon_patch(node, stamp()))
    evicted: dict[str, str] = {}
    try:
        reason = poll(lambda: _evict_pods(api, name, options.show, evicted), options, POLL_SECONDS).lacks
    except ClusterError as error:
        reason = f"{error}"
    if reason and cordoned:
        uncordon_node(api, name)
    return DrainResult(reason, cordoned and not reason, first, tuple(evicted.values()))


def _evict_pods(api: DrainApi, name: str, show: Callable[[str], None], evicted: dict[str, str]) -> Readiness:
    """Evict the pods that remain; ready once none does. ``evicted`` collects the names of evicted pods by uid."""
    pods = api.pods(name)
    remaining = pods_with(pods, DrainAction.EVICT, DrainAction.WAIT)
    if not remaining or _refusal_reasons(pods):
        return Readiness(_refusal_reasons(pods), failed=True)
    blocked = {}
    for pod in pods_with(remaining, DrainAction.EVICT):
        reason = api.evict(pod)
        if reason:
            blocked[str(pod)] = reason
        else:
            evicted[pod.uid] = str(pod)
    waits = _join_reasons(f"{pod}: {blocked.get(str(pod), 'has not ended yet')}" for pod in remaining)
    show(f"{len(remaining)} pod(s) remaining: {waits}")
    return Readiness(waits)


def uncordon_node(api: DrainApi, name: str) -> bool:
    """Uncordon the Node if a rollout cordoned it; True where it did."""
    return _patch_node(api, name, uncordon_patch, already=False)


def wait_for_node(api: DrainApi, name: str, options: WaitOptions) -> bool:
    """Wait until the Node is Ready; False where it is not in time."""

    def look() -> Readiness:
        if is_node_ready(api.node(name)):
            return Readiness()
        options.show("its Node is not Ready yet")
        return Readiness("it is not Ready")

    return not poll(look, options, POLL_SECONDS).lacks


def _patch_node(api: DrainApi, name: str, patch: Callable[[Object], Object | None], *, already: bool = True) -> bool:
    """Whether the Node was patched; ``already``: without a patch, whether a rollout cordoned it before."""
    for _attempt in range(PATCH_ATTEMPTS):
        node = api.node(name)
        body = patch(node)
        if body is None:
            return already and is_own_cordon(node)
        if api.patch(name, body):
            return True
    raise ClusterError(
        f"The Node {name} could not be changed: other clients changed it during each of {PATCH_ATTEMPTS} attempts",
        "Check which clients write to it (kubectl get node --watch), and run again.",
    )
