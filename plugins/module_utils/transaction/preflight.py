# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks before any change: files, disk space, services, and whether the runtime can be restarted safely."""

from __future__ import annotations

import os
from typing import Any

from ..cri.grpc import CriFailure
from ..cri.node_access import Node
from ..errors import ColocationError
from ..health import kubelet_checks, node_ready, runtime_checks
from ..health.finding import Verdict
from ..health.pod_sandboxes import running_pods
from ..host import Host
from ..state import files
from ..state.files import missing_directories
from ..state.plan_document import FileEdit, Plan, Service
from ..state.store import STATE_DIRECTORY
from ..systemd.service_units import count_other_processes, show

PER_FILE = 1 << 16
"""Bytes in addition to the content: block size, and the journal, which is rewritten before it replaces the old one."""


class NoDiskSpace(ColocationError):
    """A file system that is full or read-only."""


def require_disk_space(host: Host, plan: Plan) -> None:
    """NoDiskSpace for the first file system without space for the new files, which exist beside the originals."""
    needed: dict[str, int] = {}
    for edit in plan.files:
        _add_need(needed, edit.path, len(edit.after or b"") + PER_FILE)
    originals = [*(edit.path for edit in plan.files), *plan.checkpoints]
    _add_need(needed, f"{STATE_DIRECTORY}/any", sum(_file_size(host, path) + PER_FILE for path in originals))
    disks: dict[int, int] = {}
    for directory, size in needed.items():
        existing = host.real_path(_existing_directory(host, directory))
        disk = os.stat(existing).st_dev
        disks[disk] = disks.get(disk, 0) + size
        require_free_space(existing, directory, disks[disk])


def require_free_space(path: str, directory: str, size: int) -> None:
    """NoDiskSpace unless root can write ``size`` more bytes at ``path``, which the node names ``directory``."""
    status = os.statvfs(path)
    if status.f_flag & os.ST_RDONLY:
        raise NoDiskSpace(
            "its file system is mounted read-only", "Remount it read-write, or exclude this node", directory
        )
    free = status.f_bfree * status.f_frsize
    if status.f_blocks and free < size:
        raise NoDiskSpace(
            f"its file system is full: {size} bytes are needed and {free} are free, so {size - free} are missing",
            "Free some space there",
            directory,
        )
    # 0 of 0: a file system without an inode table, such as btrfs.
    if status.f_files and not status.f_ffree:
        raise NoDiskSpace("its file system has no free inode", "Remove some files there", directory)


def _add_need(needed: dict[str, int], path: str, size: int) -> None:
    directory = os.path.dirname(path)
    needed[directory] = needed.get(directory, 0) + size


def _existing_directory(host: Host, directory: str) -> str:
    """The directory, or its closest parent that exists."""
    missing = missing_directories(host, f"{directory}/any")
    return os.path.dirname(missing[0]) if missing else directory


def _file_size(host: Host, path: str) -> int:
    try:
        return host.lstat(path).st_size
    except OSError:
        return 0


SAFE_KILL_MODES = ("process", "none")


class Refused(ColocationError):
    """The transaction must not begin."""


def check(node: Node, plan: Plan) -> None:
    """Raise if a file or service differs from what the plan expects."""
    for edit in plan.files:
        _check_file(node, edit)
    for path in plan.checkpoints:
        files.regular_file_status(node.host, path)
    require_disk_space(node.host, plan)
    if plan.files_only:
        return
    require_systemd(node)
    for service in (plan.kubelet, plan.runtime):
        _require_unit(node, service)


def observe(node: Node, plan: Plan) -> dict[str, Any]:
    """The current state of services and pods, which a roll-back must reach again."""
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
    current = files.content_sha256(node.host, edit.path)
    if current != edit.before_sha256:
        state = "no longer exists" if current is None else "was changed by someone else since it was read"
        if edit.before_sha256 is None:
            state = "was created by someone else since the node was examined"
        raise Refused("it " + state, "Run this again: a new plan starts from the new content", edit.path)
    _require_no_mount(node, edit.path)
    files.probe_write(node.host, edit.path, edit.after or b"")


def _require_no_mount(node: Node, path: str) -> None:
    """rename(2) cannot replace a mount point (EBUSY); without this check the transaction would fail later."""
    if not node.host.live:
        return
    mounts = (line.split()[4] for line in node.host.read_table("/proc/self/mountinfo").splitlines())
    if path in mounts:
        raise Refused("it is itself a mount point", "Use the path of the file behind the mount", path)


def require_systemd(node: Node) -> None:
    try:
        first = node.host.read("/proc/1/comm").strip()
    except OSError as error:
        first = f"unknown ({error.strerror})"
    if first != "systemd" or not node.host.is_directory("/run/systemd/system"):
        raise Refused(
            f"process 1 of this node is {first}, not systemd, so its services cannot be restarted",
            "Run this on the node itself, not in a container on it",
        )


def _require_unit(node: Node, service: Service | None) -> None:
    if service is None or not service.restart:
        return
    load = show(node, service.unit).load
    if load != "loaded":
        raise Refused(
            f"the unit {service.unit} is {load or 'unknown'}",
            "Set the name of the unit that runs it, or unmask it",
        )


def _healthz(node: Node, plan: Plan, before: dict[str, Any]) -> dict[str, Any]:
    if plan.gate is None or plan.gate.kubelet_healthz is None:
        return {}
    finding = kubelet_checks.healthz(node, plan.gate.kubelet_healthz)
    observed: dict[str, Any] = {"kubelet_healthy": finding.verdict is Verdict.PASSED}
    if plan.kubelet is not None:
        node_ready_before = before["node"]["ready"] if "node" in before else True
        unit = show(node, plan.kubelet.unit)
        observed["healthz"] = kubelet_checks.healthz_requirement(finding, unit, node_worked=node_ready_before)
    return observed


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
        return runtime_checks.count_connections(
            node.host.read_table(runtime_checks.PROC_NET_UNIX), plan.gate.nri_socket
        )
    except OSError:
        return 0


def _require_safe_restart(node: Node, plan: Plan, before: dict[str, Any]) -> None:
    """Refuse a restart that would kill containers: shims in the unit's cgroup survive only with KillMode=process."""
    if plan.runtime is None or not plan.runtime.restart or plan.stops_sandboxes or not before["pods"]:
        return
    state = show(node, plan.runtime.unit)
    mode = state.kill_mode
    if mode not in SAFE_KILL_MODES and count_other_processes(node, state) != 0:
        raise Refused(
            f"{plan.runtime.unit} has KillMode={mode}: its restart would end all containers"
            f" of the {len(before['pods'])} pods on this node",
            "Set KillMode=process and Delegate=yes in a drop-in of the unit, or drain the node first",
        )
