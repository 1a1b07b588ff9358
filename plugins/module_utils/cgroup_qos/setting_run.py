# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module cgroup_qos in check mode and in a real run. The UID of a pod comes from the runtime's sandboxes."""

from __future__ import annotations

from typing import Any, Mapping

from ..cri.messages import SandboxState
from ..cri.runtime_client import CriClient, socket_path
from ..host import Clock, Host
from ..settings import record, workflow
from ..settings.cgroup_state import Node
from ..snapshot.process_evidence import scan_processes
from ..snapshot.runtime_evidence import kubelets_endpoint
from ..state.node_lock import node_lock, require_lockable, require_node_lock
from .setting_request import kubelet_cgroups, observe_node, parse_request


def pod_uid_of(host: Host, pod: str) -> str | None:
    """The UID of the pod ``namespace/name``; None if it is not on the node, CriFailure without the runtime's reply."""
    endpoint = kubelets_endpoint(host, scan_processes(host, None)["agents"])
    with CriClient(host.real_path(socket_path(endpoint))) as client:
        sandboxes = [sandbox for sandbox in client.pod_sandboxes() if f"{sandbox.namespace}/{sandbox.name}" == pod]
    # After a pod was re-created with the same name, its old sandbox exists for a while.
    running = [sandbox.uid for sandbox in sandboxes if sandbox.state is SandboxState.READY]
    return running[0] if running else None


def predict(host: Host, options: Mapping[str, Any]) -> workflow.Plan:
    """The plan of check mode; nothing is changed. ColocationError if the change is not allowed or not possible."""
    plan = _plan(host, options)[1]
    if plan.changed:
        require_node_lock(host)
        require_lockable(host.path(record.LOCK))
    return plan


def execute(host: Host, options: Mapping[str, Any], clock: Clock) -> workflow.Plan:
    """Apply the plan under the node's lock, and return it. A plan without changes does not wait for the lock.

    LockHeld names the process that holds the lock for too long.
    """
    plan = predict(host, options)
    if not plan.changed:
        return plan
    with node_lock(host, "cgroup_qos", clock), record.hold_record(host, clock):
        node, plan = _plan(host, options)
        workflow.execute(node, plan, clock)
    return plan


def _plan(host: Host, options: Mapping[str, Any]) -> tuple[Node, workflow.Plan]:
    """The node and its plan."""
    request = parse_request(host, options)
    node = observe_node(host, request.cgroup_root)
    tree = kubelet_cgroups(host, node.hierarchies, options)
    return node, workflow.plan(node, tree, request, lambda pod: pod_uid_of(host, pod))
