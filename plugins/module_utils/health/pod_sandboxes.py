# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pods in the runtime: finds running and ended ones, and removes all sandboxes for a change of the driver.

The CRI reports the exit code of a container and the labels of the pod, but neither its restartPolicy nor what stopped
it: a program that gets SIGTERM may also exit with 0. A pod of a Job is expected to end; for other pods the exit code 0
counts only if kubelet was not running then.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Callable, Collection, Iterable, Iterator, Mapping

from ..cri.grpc import CriFailure
from ..cri.messages import Container, ContainerState, Exit, PodSandbox, SandboxState
from ..cri.node_access import Node
from ..cri.runtime_client import CriClient
from ..errors import ColocationError
from ..host import Host
from ..state.plan_document import Sandboxes
from ..systemd.stale_cgroups import processes_in

REMOVE_TIMEOUT = 300.0
STARTING_TIMEOUT = 30.0
QUIET = 10.0
"""Seconds without a change after which remaining processes are not of a starting sandbox, but orphans."""
CALL_TIMEOUT = 90.0
CRI_NAMESPACE = "k8s.io"
PAUSE = 1.0


class SandboxesRemain(ColocationError):
    """Sandboxes that the runtime does not remove."""


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


def remove_all_sandboxes(node: Node, sandboxes: Sandboxes) -> int:
    """Stop and remove every sandbox; returns their number. kubelet must be stopped, or it creates new ones.

    A sandbox that was starting when kubelet stopped is in no list. The runtime removes it, which this function waits
    for: if the runtime were stopped before, the processes would remain.
    """
    removed = _remove_listed(node, sandboxes.endpoint)
    starting = _starting_processes(node.host, sandboxes.cgroups)
    now = node.clock.monotonic()
    deadline, quiet = now + STARTING_TIMEOUT, now + QUIET
    while starting and node.clock.monotonic() < min(deadline, quiet):
        node.clock.sleep(PAUSE)
        removed += _remove_listed(node, sandboxes.endpoint)
        before, starting = starting, _starting_processes(node.host, sandboxes.cgroups)
        if starting != before:
            quiet = node.clock.monotonic() + QUIET
    return removed


def _starting_processes(host: Host, cgroups: tuple[str, ...]) -> set[int]:
    """Processes of sandboxes that are in no list: containerd starts a shim, which starts the cgroup's processes.

    containerd runtime/v2/shim/util.go Command: -namespace; pkg/cri/constants K8sContainerdNamespace.
    """
    return processes_in(host, cgroups) | {pid for pid, words in _command_lines(host) if _is_shim(words)}


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
            remaining = client.pod_sandboxes()
            if not remaining:
                return removed
            for sandbox in tuple(remaining):
                if node.clock.monotonic() >= deadline:
                    raise _removal_error(remaining, troubles, passes)
                trouble = _remove(client, sandbox)
                if trouble:
                    troubles[sandbox.id] = trouble
                else:
                    troubles.pop(sandbox.id, None)
                    remaining.remove(sandbox)
                    removed += 1
        passes += 1
        node.clock.sleep(PAUSE)


def _remove(client: CriClient, sandbox: PodSandbox) -> str:
    """Stop and remove one sandbox; returns the error message, empty on success."""
    try:
        client.stop_pod_sandbox(sandbox.id)
        client.remove_pod_sandbox(sandbox.id)
    except CriFailure as error:
        return f"{sandbox.namespace}/{sandbox.name}: {error}"
    return ""


def _removal_error(remaining: list[PodSandbox], troubles: dict[str, str], passes: int) -> SandboxesRemain:
    messages = [troubles[sandbox.id] for sandbox in remaining if sandbox.id in troubles]
    if messages:
        reason = messages[-1]
    elif passes:
        reason = "They are created again: check whether kubelet or another client of the runtime is running"
    else:
        reason = "The runtime is too slow"
    return SandboxesRemain(
        f"{len(remaining)} pod sandboxes could not be removed within {REMOVE_TIMEOUT:.0f} s. {reason}",
        "Check the runtime's log; a reboot of the drained node removes every sandbox",
    )


# kubernetes staging/src/k8s.io/api/batch/v1/types.go; kubelet copies a pod's labels to its sandbox
# (pkg/kubelet/kuberuntime/labels.go newPodLabels). volcano.sh/apis pkg/apis/batch/v1alpha1/labels.go.
JOB_LABELS = frozenset(("batch.kubernetes.io/job-name", "job-name", "volcano.sh/job-name"))

CountsAsEnd = Callable[[PodSandbox, Exit], bool]
"""Whether an exit with code 0 means that the pod is done."""


def count_every_exit(_sandbox: PodSandbox, _exit: Exit) -> bool:
    """Count every exit: while kubelet is stopped, no other component stops containers."""
    return True


def count_exits_before(kubelet_started: float | None) -> CountsAsEnd:
    """Count exits of Jobs, and others before ``kubelet_started``.

    ``kubelet_started``: seconds since 1970; None: not restarted, or restarted by an earlier process.
    """

    def counts(sandbox: PodSandbox, ended: Exit) -> bool:
        if not JOB_LABELS.isdisjoint(sandbox.labels):
            return True
        stopped = sandbox.state is SandboxState.NOT_READY
        return stopped and kubelet_started is not None and ended.finished < kubelet_started

    return counts


def ended_pods(node: Node, endpoint: str, before: Mapping[str, int]) -> list[str]:
    """Pods that have ended since ``before``, while kubelet is stopped; empty if the runtime does not respond."""
    try:
        with node.cri(endpoint) as client:
            running = running_pods(client)
            fewer = [pod for pod, containers in before.items() if running.get(pod, 0) < containers]
            done = count_finished_containers(client, fewer, count_every_exit)
    except CriFailure:
        return []
    return sorted(pod for pod in fewer if has_ended(before[pod], running.get(pod, 0), done.get(pod, 0)))


def has_ended(before: int, running: int, done: int) -> bool:
    """Whether all containers that are no longer running are done."""
    return done > 0 and running + done >= before


def count_finished_containers(client: CriClient, pods: Collection[str], counts: CountsAsEnd) -> dict[str, int]:
    """{"namespace/name": number of done containers}; 0 for a pod with a failed container."""
    newest: dict[str, PodSandbox] = {}
    for sandbox in client.pod_sandboxes() if pods else ():
        name = f"{sandbox.namespace}/{sandbox.name}"
        if name in pods and (name not in newest or newest[name].created < sandbox.created):
            newest[name] = sandbox
    containers = client.containers() if newest else []
    return {name: _count_finished(client, sandbox, containers, counts) for name, sandbox in newest.items()}


def _count_finished(
    client: CriClient, sandbox: PodSandbox, containers: Iterable[Container], counts: CountsAsEnd
) -> int:
    in_sandbox = (container for container in containers if container.sandbox_id == sandbox.id)
    last = {container.name: container for container in sorted(in_sandbox, key=lambda container: container.attempt)}
    ended = [container for container in last.values() if container.state is ContainerState.EXITED]
    exits = [client.container_exit(container.id) for container in ended]
    known = [container_exit for container_exit in exits if container_exit is not None]
    return len(known) if all(exited.code == 0 and counts(sandbox, exited) for exited in known) else 0
