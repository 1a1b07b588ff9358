# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that can be known to go wrong before anything is touched."""

from __future__ import annotations

from typing import Any

from ..cri.errors import CriFailure
from ..errors import ColocationError
from . import files, kubelet_checks, node_ready, room, runtime_checks
from .finding import Verdict
from .node import Node
from .plan import FileEdit, Plan, Service
from .sandboxes import running_pods
from .services import others_in_cgroup, show

SAFE_KILL_MODES = ("process", "none")


class Refused(ColocationError):
    """The transaction must not begin."""


def check(node: Node, plan: Plan) -> None:
    """Raise when a file or service is not as the plan takes it to be."""
    for edit in plan.files:
        _check_file(node, edit)
    for path in plan.checkpoints:
        files.identity(node.host, path)
    room.require(node.host, plan)
    if plan.files_only:
        return
    require_systemd(node)
    for service in (plan.kubelet, plan.runtime):
        _require_unit(node, service)


def observe(node: Node, plan: Plan) -> dict[str, Any]:
    """The services and pods as they are now: what a roll-back has to reach again."""
    before: dict[str, Any] = {"kubelet_runs": False, "runtime_runs": False, "kubelet_healthy": False, "pods": {}}
    if plan.files_only:
        return before
    if plan.kubelet:
        before["kubelet_runs"] = show(node, plan.kubelet.unit).runs
    if plan.runtime:
        before["runtime_runs"] = show(node, plan.runtime.unit).runs
    if plan.gate and plan.gate.node:
        before["node"] = node_ready.baseline(node, plan.gate.node, kubelet_runs=before["kubelet_runs"])
    before.update(_healthz(node, plan, before))
    before["pods"] = _pods(node, plan, before)
    before["nri_plugins"] = _nri_plugins(node, plan)
    _require_safe_restart(node, plan, before)
    return before


def _check_file(node: Node, edit: FileEdit) -> None:
    found = files.content_sha256(node.host, edit.path)
    if found != edit.before_sha256:
        state = "is not there any more" if found is None else "was changed by someone else since it was read"
        if edit.before_sha256 is None:
            state = "was made by someone else since the node was examined"
        raise Refused("it " + state, "Run this again: a new plan starts from the new content", edit.path)
    _require_no_mount(node, edit.path)
    files.probe(node.host, edit.path, edit.after or b"")


def _require_no_mount(node: Node, path: str) -> None:
    """rename(2) does not replace a mount point (EBUSY), which would be noticed too late."""
    if not node.host.live:
        return
    mounts = (line.split()[4] for line in node.host.read_table("/proc/self/mountinfo").splitlines())
    if path in mounts:
        raise Refused("it is a mount point of its own", "Name the file behind the mount", path)


def require_systemd(node: Node) -> None:
    try:
        first = node.host.read("/proc/1/comm").strip()
    except OSError as error:
        first = f"unknown ({error.strerror})"
    if first != "systemd" or not node.host.is_folder("/run/systemd/system"):
        raise Refused(
            f"the first process of this node is {first} and not systemd, so its services cannot be restarted",
            "Run this on the node itself, not in a container of it",
        )


def _require_unit(node: Node, service: Service | None) -> None:
    if service is None or not service.restart:
        return
    load = show(node, service.unit).load
    if load != "loaded":
        raise Refused(
            f"the unit {service.unit} is {load or 'unknown'}",
            "Name the unit that runs it, or unmask it",
        )


def _healthz(node: Node, plan: Plan, before: dict[str, Any]) -> dict[str, Any]:
    if plan.gate is None or plan.gate.kubelet_healthz is None:
        return {}
    found = kubelet_checks.healthz(node, plan.gate.kubelet_healthz)
    answer: dict[str, Any] = {"kubelet_healthy": found.verdict is Verdict.PASSED}
    if plan.kubelet is not None:
        rest = before["node"]["ready"] if "node" in before else True
        unit = show(node, plan.kubelet.unit)
        answer["healthz"] = kubelet_checks.healthz_demanded(found, unit, rest_worked=rest)
    return answer


def _pods(node: Node, plan: Plan, before: dict[str, Any]) -> dict[str, int]:
    endpoint = plan.gate.cri_endpoint if plan.gate else None
    if plan.sandboxes:
        endpoint = plan.sandboxes.endpoint
    if endpoint is None:
        return {}
    try:
        with node.cri(endpoint) as client:
            return running_pods(client)
    except CriFailure:
        if plan.stops_sandboxes and before["runtime_runs"]:
            raise
        return {}


def _nri_plugins(node: Node, plan: Plan) -> int:
    if plan.gate is None or plan.gate.nri_socket is None:
        return 0
    try:
        return runtime_checks.connected(node.host.read_table(runtime_checks.PROC_NET_UNIX), plan.gate.nri_socket)
    except OSError:
        return 0


def _require_safe_restart(node: Node, plan: Plan, before: dict[str, Any]) -> None:
    """Shims in the unit's own cgroup outlive a restart only with KillMode=process."""
    if plan.runtime is None or not plan.runtime.restart or plan.stops_sandboxes or not before["pods"]:
        return
    state = show(node, plan.runtime.unit)
    mode = state.kill_mode
    if mode not in SAFE_KILL_MODES and others_in_cgroup(node, state) != 0:
        raise Refused(
            f"{plan.runtime.unit} has KillMode={mode}: its restart would end all containers"
            f" of the {len(before['pods'])} pods on this node",
            "Set KillMode=process and Delegate=yes in a drop-in of the unit, or drain the node first",
        )
