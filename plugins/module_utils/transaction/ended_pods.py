# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pods that have come to their end meanwhile, as far as the runtime still knows of it.

The CRI tells how a container ended, and the pod's labels, but neither its restartPolicy nor who ended it: a program
that is asked to end may say 0 too. A pod of a Job is meant to end; of another one 0 counts if kubelet did not run then.
"""

from __future__ import annotations

from typing import Callable, Collection, Iterable, Mapping

from ..cri.client import CriClient
from ..cri.errors import CriFailure
from ..cri.messages import Container, ContainerState, Exit, PodSandbox, SandboxState
from .node import Node
from .sandboxes import running_pods

# kubernetes staging/src/k8s.io/api/batch/v1/types.go; kubelet copies a pod's labels to its sandbox
# (pkg/kubelet/kuberuntime/labels.go newPodLabels). volcano.sh/apis pkg/apis/batch/v1alpha1/labels.go.
JOB_LABELS = frozenset(("batch.kubernetes.io/job-name", "job-name", "volcano.sh/job-name"))

Counts = Callable[[PodSandbox, Exit], bool]
"""Whether an exit with 0 is the end of the work."""


def at_any_time(_sandbox: PodSandbox, _exit: Exit) -> bool:
    """While kubelet is stopped nobody else ends a container."""
    return True


def since(kubelet_started: float | None) -> Counts:
    """``kubelet_started``: seconds since 1970; None when it was not restarted, or by a process that is gone."""

    def counts(sandbox: PodSandbox, ended: Exit) -> bool:
        if not JOB_LABELS.isdisjoint(sandbox.labels):
            return True
        left = sandbox.state is SandboxState.NOT_READY
        return left and kubelet_started is not None and ended.finished < kubelet_started

    return counts


def by_now(node: Node, endpoint: str, before: Mapping[str, int]) -> list[str]:
    """Pods that have ended since ``before``, in which case kubelet is stopped; none where the runtime does not tell."""
    try:
        with node.cri(endpoint) as client:
            running = running_pods(client)
            fewer = [pod for pod, containers in before.items() if running.get(pod, 0) < containers]
            done = finished(client, fewer, at_any_time)
    except CriFailure:
        return []
    return sorted(pod for pod in fewer if has_ended(before[pod], running.get(pod, 0), done.get(pod, 0)))


def has_ended(before: int, running: int, done: int) -> bool:
    """Whether all containers that do not run any more are done."""
    return done > 0 and running + done >= before


def finished(client: CriClient, pods: Collection[str], counts: Counts) -> dict[str, int]:
    """{"namespace/name": containers that are done} of those pods none of whose containers has failed."""
    newest: dict[str, PodSandbox] = {}
    for sandbox in client.pod_sandboxes() if pods else ():
        name = f"{sandbox.namespace}/{sandbox.name}"
        if name in pods and (name not in newest or newest[name].created < sandbox.created):
            newest[name] = sandbox
    containers = client.containers() if newest else []
    return {name: _done(client, sandbox, containers, counts) for name, sandbox in newest.items()}


def _done(client: CriClient, sandbox: PodSandbox, containers: Iterable[Container], counts: Counts) -> int:
    own = sorted((each for each in containers if each.sandbox_id == sandbox.id), key=lambda each: each.attempt)
    last = {each.name: each for each in own}
    exits = [client.container_exit(each.id) for each in last.values() if each.state is ContainerState.EXITED]
    known = [each for each in exits if each is not None]
    return len(known) if all(each.code == 0 and counts(sandbox, each) for each in known) else 0
