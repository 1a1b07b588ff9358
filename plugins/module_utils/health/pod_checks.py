# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of the health gate for running pods, which prove that files and settings are in effect."""

from __future__ import annotations

from typing import Collection

from ..cgroup.container_paths import decisive_path, driver_of
from ..cri.grpc import CriFailure
from ..cri.messages import ContainerState
from ..cri.node_access import Node
from ..cri.runtime_client import CriClient
from . import pod_sandboxes
from .finding import Finding, Verdict
from .pod_sandboxes import running_pods


def cgroup_shape(node: Node, endpoint: str, driver: str) -> Finding:
    """Whether the cgroup path of every running container has the form that the driver creates."""
    name = "cgroup paths of containers"
    try:
        with node.cri(endpoint) as client:
            paths = _paths(node, client)
    except CriFailure as error:
        return Finding(name, Verdict.WAITING, error.message)
    wrong = {container: path for container, path in paths.items() if driver_of(path) != driver}
    if wrong:
        container, path = sorted(wrong.items())[0]
        detail = "%d of %d containers are not in cgroups of the %s driver, for example %s in %s"
        return Finding(name, Verdict.WAITING, detail % (len(wrong), len(paths), driver, container, path))
    if not paths:
        return Finding(name, Verdict.NOT_PROVEN, "no container is running")
    example = sorted(paths.values())[0]
    return Finding(name, Verdict.PASSED, f"{len(paths)} containers, for example {example}")


def _paths(node: Node, client: CriClient) -> dict[str, str]:
    """{container name: cgroup path} without containers that ended in between."""
    paths = {}
    for container in client.containers():
        if container.state is not ContainerState.RUNNING:
            continue
        pid = client.container_pid(container.id)
        path = "" if pid is None else _cgroup(node, pid)
        if path:
            paths[f"{container.name} ({container.id[:12]})"] = path
    return paths


def _cgroup(node: Node, pid: int) -> str:
    try:
        return decisive_path(node.host.read(f"/proc/{pid}/cgroup"))
    except OSError:
        return ""


def pods_returned(
    node: Node,
    endpoint: str,
    before: dict[str, int],
    ended_before: Collection[str] = (),
    kubelet_started: float | None = None,
) -> Finding:
    """Whether every pod runs again with as many containers as before, or has ended with exit code 0.

    ``ended_before``: pods that had ended before their sandboxes were removed.
    """
    name = "pods returned"
    try:
        with node.cri(endpoint) as client:
            now = running_pods(client)
            fewer = [pod for pod, containers in before.items() if now.get(pod, -1) < containers]
            done = pod_sandboxes.count_finished_containers(
                client, fewer, pod_sandboxes.count_exits_before(kubelet_started)
            )
    except CriFailure as error:
        return Finding(name, Verdict.WAITING, error.message)
    ended = [
        pod
        for pod in fewer
        if pod in ended_before or pod_sandboxes.has_ended(before[pod], now.get(pod, 0), done.get(pod, 0))
    ]
    missing = sorted(set(fewer) - set(ended))
    if missing:
        detail = f"{len(missing)} of {len(before)} pods do not run as before: {', '.join(missing[:5])}"
        return Finding(name, Verdict.WAITING, detail)
    if not before:
        return Finding(name, Verdict.NOT_PROVEN, "no pod was running before")
    note = f"; ended with exit code 0 in between: {', '.join(sorted(ended))}" if ended else ""
    return Finding(name, Verdict.PASSED, f"{len(before) - len(ended)} pods{note}")
