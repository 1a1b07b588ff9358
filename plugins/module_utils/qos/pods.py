# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The UID of a pod, from the sandboxes that the node's runtime has. The installed engine has no need of it."""

from __future__ import annotations

from ..cri.client import CriClient, socket_path
from ..cri.messages import SandboxState
from ..host import Host
from ..snapshot.endpoint import kubelets_endpoint
from ..snapshot.processes import scan


def uid_of(host: Host, pod: str) -> str | None:
    """The UID of ``namespace/name``; None when the node has no such pod, CriFailure when the runtime is silent."""
    endpoint = kubelets_endpoint(host, scan(host, None)["agents"])
    with CriClient(host.real_path(socket_path(endpoint))) as client:
        found = [each for each in client.pod_sandboxes() if f"{each.namespace}/{each.name}" == pod]
    # A pod that was made anew under its name leaves its old sandbox behind for a while.
    running = [each.uid for each in found if each.state is SandboxState.READY]
    return running[0] if running else None
