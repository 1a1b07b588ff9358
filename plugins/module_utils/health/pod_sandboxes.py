# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pods as the runtime has them: which run, which have ended, and removing all sandboxes for a change of the driver.

The CRI tells how a container ended, and the pod's labels, but neither its restartPolicy nor who ended it: a program
that is asked to end may say 0 too. A pod of a Job is meant to end; of another one 0 counts if kubelet did not run then.
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


def remove_all_sandboxes(node: Node, wanted: Sandboxes) -> int:
    """Stop and remove every sandbox; the number of removals. kubelet must be stopped, or it makes new ones.

    A sandbox in the making when kubelet ended is in no list. The runtime takes it back, which is waited for: were the
    runtime stopped meanwhile, its processes would stay for good.
    """
    removed = _remove_listed(node, wanted.endpoint)
    made = _starting_processes(node.host, wanted.cgroups)
    now = node.clock.monotonic()
    deadline, quiet = now + SETTLE_TIMEOUT, now + QUIET
    while made and node.clock.monotonic() < min(deadline, quiet):
        node.clock.sleep(PAUSE)
        removed += _remove_listed(node, wanted.endpoint)
        before, made = made, _starting_processes(node.host, wanted.cgroups)
        if made != before:
            quiet = node.clock.monotonic() + QUIET
    return removed


def _starting_processes(host: Host, cgroups: tuple[str, ...]) -> set[int]:
    """Processes of sandboxes that are in no list: containerd starts a shim first, and the shim what is in the cgroup.

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
            left = client.pod_sandboxes()
            if not left:
                return removed
            for sandbox in tuple(left):
                if node.clock.monotonic() >= deadline:
                    raise _removal_error(left, troubles, passes)
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


def _removal_error(left: list[PodSandbox], troubles: dict[str, str], passes: int) -> SandboxesRemain:
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


# kubernetes staging/src/k8s.io/api/batch/v1/types.go; kubelet copies a pod's labels to its sandbox
# (pkg/kubelet/kuberuntime/labels.go newPodLabels). volcano.sh/apis pkg/apis/batch/v1alpha1/labels.go.
JOB_LABELS = frozenset(("batch.kubernetes.io/job-name", "job-name", "volcano.sh/job-name"))

CountsAsEnd = Callable[[PodSandbox, Exit], bool]
"""Whether an exit with 0 is the end of the work."""


def count_every_exit(_sandbox: PodSandbox, _exit: Exit) -> bool:
    """While kubelet is stopped nobody else ends a container."""
    return True


def count_exits_before(kubelet_started: float | None) -> CountsAsEnd:
    """``kubelet_started``: seconds since 1970; None when it was not restarted, or by a process that is gone."""

    def counts(sandbox: PodSandbox, ended: Exit) -> bool:
        if not JOB_LABELS.isdisjoint(sandbox.labels):
            return True
        left = sandbox.state is SandboxState.NOT_READY
        return left and kubelet_started is not None and ended.finished < kubelet_started

    return counts


def ended_pods(node: Node, endpoint: str, before: Mapping[str, int]) -> list[str]:
    """Pods that have ended since ``before``, in which case kubelet is stopped; none where the runtime does not tell."""
    try:
        with node.cri(endpoint) as client:
            running = running_pods(client)
            fewer = [pod for pod, containers in before.items() if running.get(pod, 0) < containers]
            done = count_finished_containers(client, fewer, count_every_exit)
    except CriFailure:
        return []
    return sorted(pod for pod in fewer if has_ended(before[pod], running.get(pod, 0), done.get(pod, 0)))


def has_ended(before: int, running: int, done: int) -> bool:
    """Whether all containers that do not run any more are done."""
    return done > 0 and running + done >= before


def count_finished_containers(client: CriClient, pods: Collection[str], counts: CountsAsEnd) -> dict[str, int]:
    """{"namespace/name": containers that are done} of those pods none of whose containers has failed."""
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
    own = sorted((each for each in containers if each.sandbox_id == sandbox.id), key=lambda each: each.attempt)
    last = {each.name: each for each in own}
    exits = [client.container_exit(each.id) for each in last.values() if each.state is ContainerState.EXITED]
    known = [each for each in exits if each is not None]
    return len(known) if all(each.code == 0 and counts(sandbox, each) for each in known) else 0
