# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pod sandboxes: which pods run, and removing all of them for a change of the cgroup driver."""

from __future__ import annotations

from ..cri.client import CriClient
from ..cri.errors import CriFailure
from ..cri.messages import ContainerState, SandboxState
from ..errors import ColocationError
from .node import Node
from .plan import Sandboxes
from .stale_cgroups import occupants

REMOVE_TIMEOUT = 300.0
SETTLE_TIMEOUT = 30.0
CALL_TIMEOUT = 90.0
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
    deadline = node.clock.monotonic() + SETTLE_TIMEOUT
    while occupants(node.host, wanted.cgroups) and node.clock.monotonic() < deadline:
        node.clock.sleep(PAUSE)
        removed += _remove_listed(node, wanted.endpoint)
    return removed


def _remove_listed(node: Node, endpoint: str) -> int:
    deadline = node.clock.monotonic() + REMOVE_TIMEOUT
    removed = 0
    while True:
        trouble = ""
        with node.cri(endpoint, CALL_TIMEOUT) as client:
            found = client.pod_sandboxes()
            for sandbox in found:
                try:
                    client.stop_pod_sandbox(sandbox.id)
                    client.remove_pod_sandbox(sandbox.id)
                    removed += 1
                except CriFailure as error:
                    trouble = f"{sandbox.namespace}/{sandbox.name}: {error}"
        if not found:
            return removed
        if trouble and node.clock.monotonic() > deadline:
            raise SandboxesRemain(
                f"{len(found)} pod sandboxes cannot be removed. {trouble}",
                "Look at the runtime's log; a reboot of the drained node removes every sandbox",
            )
        if trouble:
            node.clock.sleep(PAUSE)
