# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draining a Node by evictions and uncordoning it. Nothing is forced: a pod that cannot be evicted ends the attempt.

An annotation records who cordoned the Node: what a rollout cordoned it uncordons, what others cordoned stays so.
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
"""An annotation of a Node that a rollout cordoned, with the time. It outlives a controller that is killed."""


def is_cordoned(node: Mapping[str, Any]) -> bool:
    return bool((node.get("spec") or {}).get("unschedulable"))


def is_own_cordon(node: Mapping[str, Any]) -> bool:
    """True when a rollout cordoned it, this one or one that did not come to its end."""
    return CORDON_ANNOTATION in (node["metadata"].get("annotations") or {})


def cordon_patch(node: Mapping[str, Any], now: str) -> dict[str, Any] | None:
    """The merge patch that cordons a Node; None where it is cordoned."""
    return (
        None
        if is_cordoned(node)
        else _node_patch(node, {"annotations": {CORDON_ANNOTATION: now}}, {"spec": {"unschedulable": True}})
    )


def uncordon_patch(node: Mapping[str, Any]) -> dict[str, Any] | None:
    """The merge patch that leaves a Node as it was before we cordoned it; None where we did not."""
    return (
        _node_patch(node, {"annotations": {CORDON_ANNOTATION: None}}, {"spec": {"unschedulable": None}})
        if is_own_cordon(node)
        else None
    )


def _node_patch(node: Mapping[str, Any], metadata: dict[str, Any], rest: dict[str, Any]) -> dict[str, Any]:
    """Refused by the API server if the Node is no longer as it was read."""
    return {"metadata": {"resourceVersion": node["metadata"]["resourceVersion"], **metadata}, **rest}


def is_node_ready(node: Mapping[str, Any]) -> bool:
    return is_condition_true(node, "Ready")


MAX_REASONS = 4
POLL_SECONDS = 5.0
"""Seconds between two looks at the pods, and at the Node."""
PATCH_ATTEMPTS = 5
"""A kubelet reports to its Node every few seconds, so that a patch may have to be made anew."""


class DrainApi(Protocol):
    """What a drain asks of an API server; every method raises ClusterError when there is no answer."""

    def node(self, name: str) -> Object: ...

    def pods(self, name: str) -> tuple[Pod, ...]: ...

    def patch(self, name: str, body: Object) -> bool:
        """False where somebody else was faster."""

    def evict(self, pod: Pod) -> str:
        """Why it may not go now; empty where it may."""


@dataclass(frozen=True)
class DrainResult:
    """``reason`` says why the Node is not drained, and is empty where it is; ``cordoned``: by us."""

    reason: str
    cordoned: bool
    pods: tuple[Pod, ...]
    evicted: tuple[str, ...] = ()


def preview_drain(node: Object, pods: tuple[Pod, ...]) -> DrainResult:
    """What a drain would come to, as far as that can be seen beforehand."""
    going = tuple(map(str, pods_with(pods, DrainAction.EVICT)))
    return DrainResult(_refusal_reasons(pods), is_own_cordon(node) or not is_cordoned(node), pods, going)


def pods_with(pods: tuple[Pod, ...], *fates: DrainAction) -> tuple[Pod, ...]:
    return tuple(pod for pod in pods if pod.action in fates)


def _refusal_reasons(pods: tuple[Pod, ...]) -> str:
    return _join_reasons(f"{pod}: {pod.why}" for pod in pods_with(pods, DrainAction.REFUSE))


def _join_reasons(reasons: Any) -> str:
    found = list(reasons)
    more = [f"and {len(found) - MAX_REASONS} more"] if len(found) > MAX_REASONS else []
    return "; ".join([*found[:MAX_REASONS], *more])


def drain_node(api: DrainApi, name: str, options: WaitOptions, stamp: Callable[[], str]) -> DrainResult:
    """Cordon the Node and evict its pods; opened again, and told why, where that does not succeed in time.

    ``stamp`` is the present time, for people.
    """
    first = api.pods(name)
    reason = _refusal_reasons(first)
    if reason:
        return DrainResult(reason, cordoned=False, pods=first)
    ours = _patch_node(api, name, lambda node: cordon_patch(node, stamp()))
    evicted: dict[str, str] = {}
    try:
        reason = poll(lambda: _evict_pods(api, name, options.show, evicted), options, POLL_SECONDS).lacks
    except ClusterError as error:
        reason = f"{error}"
    if reason and ours:
        uncordon_node(api, name)
    return DrainResult(reason, ours and not reason, first, tuple(evicted.values()))


def _evict_pods(api: DrainApi, name: str, show: Callable[[str], None], evicted: dict[str, str]) -> Readiness:
    """Nothing is lacking once no pod is left that has to go. ``evicted``: by uid, those that were told to."""
    pods = api.pods(name)
    left = pods_with(pods, DrainAction.EVICT, DrainAction.WAIT)
    if not left or _refusal_reasons(pods):
        return Readiness(_refusal_reasons(pods), failed=True)
    held = {}
    for pod in pods_with(left, DrainAction.EVICT):
        reason = api.evict(pod)
        if reason:
            held[str(pod)] = reason
        else:
            evicted[pod.uid] = str(pod)
    waits = _join_reasons(f"{pod}: {held.get(str(pod), 'has not ended yet')}" for pod in left)
    show(f"{len(left)} pod(s) left: {waits}")
    return Readiness(waits)


def uncordon_node(api: DrainApi, name: str) -> bool:
    """Open what we closed; True where there was something to open."""
    return _patch_node(api, name, uncordon_patch, already=False)


def wait_for_node(api: DrainApi, name: str, options: WaitOptions) -> bool:
    """Whether the Node is Ready in time."""

    def look() -> Readiness:
        if is_node_ready(api.node(name)):
            return Readiness()
        options.show("its Node is not Ready yet")
        return Readiness("it is not Ready")

    return not poll(look, options, POLL_SECONDS).lacks


def _patch_node(api: DrainApi, name: str, patch: Callable[[Object], Object | None], *, already: bool = True) -> bool:
    """Whether the Node is ours, once patched; ``already``: when there was nothing to patch, the mark decides."""
    for _attempt in range(PATCH_ATTEMPTS):
        node = api.node(name)
        body = patch(node)
        if body is None:
            return already and is_own_cordon(node)
        if api.patch(name, body):
            return True
    raise ClusterError(
        f"The Node {name} was changed by others each time it was about to be",
        "Look at what writes to it (kubectl get node --watch), and run again.",
    )
