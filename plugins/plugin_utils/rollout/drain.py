# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draining a Node through evictions, and opening it again. Nothing is forced: what cannot go ends the attempt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from ..kube.errors import ClusterError
from ..kube.objects import Object
from ..kube.wait import Readiness, WaitOptions, poll
from .cordon import closing, is_cordoned, is_ours, is_ready, opening
from .pods import Fate, Pod

SHOWN = 4
PAUSE = 5.0
"""Seconds between two looks at the pods, and at the Node."""
ATTEMPTS = 5
"""A kubelet reports to its Node every few seconds, so that a patch may have to be made anew."""


class Api(Protocol):
    """What a drain asks of an API server; every method raises ClusterError when there is no answer."""

    def node(self, name: str) -> Object: ...

    def pods(self, name: str) -> tuple[Pod, ...]: ...

    def patch(self, name: str, body: Object) -> bool:
        """False where somebody else was faster."""

    def evict(self, pod: Pod) -> str:
        """Why it may not go now; empty where it may."""


@dataclass(frozen=True)
class Drained:
    """``reason`` says why the Node is not drained, and is empty where it is; ``cordoned``: by us."""

    reason: str
    cordoned: bool
    pods: tuple[Pod, ...]
    evicted: tuple[str, ...] = ()


def outlook(node: Object, pods: tuple[Pod, ...]) -> Drained:
    """What a drain would come to, as far as that can be seen beforehand."""
    going = tuple(map(str, of(pods, Fate.EVICT)))
    return Drained(_stuck(pods), is_ours(node) or not is_cordoned(node), pods, going)


def of(pods: tuple[Pod, ...], *fates: Fate) -> tuple[Pod, ...]:
    return tuple(pod for pod in pods if pod.fate in fates)


def _stuck(pods: tuple[Pod, ...]) -> str:
    return _told(f"{pod}: {pod.why}" for pod in of(pods, Fate.STUCK))


def _told(reasons: Any) -> str:
    found = list(reasons)
    more = [f"and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
    return "; ".join([*found[:SHOWN], *more])


def drain(api: Api, name: str, options: WaitOptions, stamp: Callable[[], str]) -> Drained:
    """Cordon the Node and evict its pods; opened again, and told why, where that does not succeed in time.

    ``stamp`` is the present time, for people.
    """
    first = api.pods(name)
    reason = _stuck(first)
    if reason:
        return Drained(reason, cordoned=False, pods=first)
    ours = _patched(api, name, lambda node: closing(node, stamp()))
    evicted: dict[str, str] = {}
    try:
        reason = poll(lambda: _emptied(api, name, options.show, evicted), options, PAUSE).lacks
    except ClusterError as error:
        reason = f"{error}"
    if reason and ours:
        release(api, name)
    return Drained(reason, ours and not reason, first, tuple(evicted.values()))


def _emptied(api: Api, name: str, show: Callable[[str], None], evicted: dict[str, str]) -> Readiness:
    """Nothing is lacking once no pod is left that has to go. ``evicted``: by uid, those that were told to."""
    pods = api.pods(name)
    left = of(pods, Fate.EVICT, Fate.LEAVING)
    if not left or _stuck(pods):
        return Readiness(_stuck(pods), failed=True)
    held = {}
    for pod in of(left, Fate.EVICT):
        reason = api.evict(pod)
        if reason:
            held[str(pod)] = reason
        else:
            evicted[pod.uid] = str(pod)
    waits = _told(f"{pod}: {held.get(str(pod), 'has not ended yet')}" for pod in left)
    show(f"{len(left)} pod(s) left: {waits}")
    return Readiness(waits)


def release(api: Api, name: str) -> bool:
    """Open what we closed; True where there was something to open."""
    return _patched(api, name, opening, already=False)


def await_ready(api: Api, name: str, options: WaitOptions) -> bool:
    """Whether the Node is Ready in time."""

    def look() -> Readiness:
        if is_ready(api.node(name)):
            return Readiness()
        options.show("its Node is not Ready yet")
        return Readiness("it is not Ready")

    return not poll(look, options, PAUSE).lacks


def _patched(api: Api, name: str, patch: Callable[[Object], Object | None], *, already: bool = True) -> bool:
    """Whether the Node is ours, once patched; ``already``: when there was nothing to patch, the mark decides."""
    for _attempt in range(ATTEMPTS):
        node = api.node(name)
        body = patch(node)
        if body is None:
            return already and is_ours(node)
        if api.patch(name, body):
            return True
    raise ClusterError(
        f"The Node {name} was changed by others each time it was about to be",
        "Look at what writes to it (kubectl get node --watch), and run again.",
    )
