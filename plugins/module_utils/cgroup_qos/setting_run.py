# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""cgroup_qos from end to end: a check, and a run; the UID of a pod comes from the runtime's sandboxes."""

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
    """The UID of ``namespace/name``; None when the node has no such pod, CriFailure when the runtime is silent."""
    endpoint = kubelets_endpoint(host, scan_processes(host, None)["agents"])
    with CriClient(host.real_path(socket_path(endpoint))) as client:
        found = [each for each in client.pod_sandboxes() if f"{each.namespace}/{each.name}" == pod]
    # A pod that was made anew under its name leaves its old sandbox behind for a while.
    running = [each.uid for each in found if each.state is SandboxState.READY]
    return running[0] if running else None


def predict(host: Host, options: Mapping[str, Any]) -> workflow.Plan:
    """Nothing is changed; ColocationError when it must not or cannot be done."""
    plan = _plan(host, options)[1]
    if plan.changed:
        require_node_lock(host)
        require_lockable(host.path(record.LOCK))
    return plan


def execute(host: Host, options: Mapping[str, Any], clock: Clock) -> workflow.Plan:
    """The plan, carried out while nobody else is at work on the node; what changes nothing waits for nobody.

    LockHeld names who is at work for too long.
    """
    plan = predict(host, options)
    if not plan.changed:
        return plan
    with node_lock(host, "cgroup_qos", clock), record.hold_record(host, clock):
        where, plan = _plan(host, options)
        workflow.execute(where, plan, clock)
    return plan


def _plan(host: Host, options: Mapping[str, Any]) -> tuple[Node, workflow.Plan]:
    """Where, and what."""
    wanted = parse_request(host, options)
    where = observe_node(host, wanted.cgroup_root)
    tree = kubelet_cgroups(host, where.hierarchies, options)
    return where, workflow.plan(where, tree, wanted, lambda pod: pod_uid_of(host, pod))
