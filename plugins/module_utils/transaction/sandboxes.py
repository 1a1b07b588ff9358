# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pod sandboxes: which pods run, and removing all of them for a change of the cgroup driver."""

from __future__ import annotations

from contextlib import suppress
from typing import Iterator

from ..cri.client import CriClient
from ..cri.errors import CriFailure
from ..cri.messages import ContainerState, PodSandbox, SandboxState
from ..errors import ColocationError
from ..host import Host
from .node import Node
from .plan import Sandboxes
from .stale_cgroups import occupants

REMOVE_TIMEOUT = 300.0
SETTLE_TIMEOUT = 30.0
QUIET = 10.0
"""Seconds without a change after which what is left is no sandbox in the making, but what the runtime once lost."""
CALL_TIMEOUT = 90.0
CRI_NAMESPACE = "k8s.io"
PAUSE = 1.0


class SandboxesRemain(ColocationError):
    """Sandboxes that the runtime does not let go."""


def running_pods(client: CriClient) -> dict[str, int]:
    """{"namespace/name": running containers} of every pod with a ready sandbox."""
    names = {
        sandbox.id: f"{sandbox.namespace}/{sandbox.name}"
        for sandbox in client.pod_sandboxes()
        if sandbox.state is SandboxState.READY
    }
    pods = dict.fromkeys(names.values(), 0)
    for container in client.containers():
        if container.state is ContainerState.RUNNING and container.sandbox_id in names:
            pods[names[container.sandbox_id]] += 1
    return pods


def remove_all(node: Node, wanted: Sandboxes) -> int:
    """Stop and remove every sandbox; the number of removals. kubelet must be stopped, or it makes new ones.

    A sandbox in the making when kubelet ended is in no list. The runtime takes it back, which is waited for: were the
    runtime stopped meanwhile, its processes would stay for good.
    """
    removed = _remove_listed(node, wanted.endpoint)
    made = _in_the_making(node.host, wanted.cgroups)
    now = node.clock.monotonic()
    deadline, quiet = now + SETTLE_TIMEOUT, now + QUIET
    while made and node.clock.monotonic() < min(deadline, quiet):
        node.clock.sleep(PAUSE)
        removed += _remove_listed(node, wanted.endpoint)
        before, made = made, _in_the_making(node.host, wanted.cgroups)
        if made != before:
            quiet = node.clock.monotonic() + QUIET
    return removed


def _in_the_making(host: Host, cgroups: tuple[str, ...]) -> set[int]:
    """Processes of sandboxes that are in no list: containerd starts a shim first, and the shim what is in the cgroup.

    containerd runtime/v2/shim/util.go Command: -namespace; pkg/cri/constants K8sContainerdNamespace.
    """
    return occupants(host, cgroups) | {pid for pid, words in _command_lines(host) if _is_shim(words)}


def _is_shim(words: list[str]) -> bool:
    return "/containerd-shim" in words[0] and CRI_NAMESPACE in words


def _command_lines(host: Host) -> Iterator[tuple[int, list[str]]]:
    for name in host.list("/proc"):
        if name.isdigit():
            with suppress(OSError):
                yield int(name), host.read(f"/proc/{name}/cmdline").split("\0")


def _remove_listed(node: Node, endpoint: str) -> int:
    deadline = node.clock.monotonic() + REMOVE_TIMEOUT
    passes = removed = 0
    troubles: dict[str, str] = {}
    while True:
        with node.cri(endpoint, CALL_TIMEOUT) as client:
            left = client.pod_sandboxes()
            if not left:
                return removed
            for sandbox in tuple(left):
                if node.clock.monotonic() >= deadline:
                    raise _remain(left, troubles, passes)
                trouble = _remove(client, sandbox)
                if trouble:
                    troubles[sandbox.id] = trouble
                else:
                    troubles.pop(sandbox.id, None)
                    left.remove(sandbox)
                    removed += 1
        passes += 1
        node.clock.sleep(PAUSE)


def _remove(client: CriClient, sandbox: PodSandbox) -> str:
    """Stop and remove one; the trouble in words, empty when there was none."""
    try:
        client.stop_pod_sandbox(sandbox.id)
        client.remove_pod_sandbox(sandbox.id)
    except CriFailure as error:
        return f"{sandbox.namespace}/{sandbox.name}: {error}"
    return ""


def _remain(left: list[PodSandbox], troubles: dict[str, str], passes: int) -> SandboxesRemain:
    found = [troubles[each.id] for each in left if each.id in troubles]
    if found:
        reason = found[-1]
    elif passes:
        reason = "They come back: is kubelet or another client of the runtime at work?"
    else:
        reason = "The runtime is too slow"
    return SandboxesRemain(
        f"{len(left)} pod sandboxes cannot be removed in {REMOVE_TIMEOUT:.0f} s. {reason}",
        "Look at the runtime's log; a reboot of the drained node removes every sandbox",
    )
