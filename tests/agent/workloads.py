# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Online and offline pods, and the values in the cgroups of a pod."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.volcano.colocation.tests.agent.field import BATCH_CPU, BATCH_MEMORY, Field
from ansible_collections.volcano.colocation.tests.agent.machines import TREES
from ansible_collections.volcano.colocation.tests.volcano.cluster import eventually
from ansible_collections.volcano.colocation.tests.volcano.objects import Manifest

SPACE = "work"
IMAGE = "localhost/lab/busybox:1"
BURST = {"volcano.sh/enable-quota-burst": "true", "volcano.sh/quota-burst-time": "5000"}
MEMORY_QOS = {"volcano.sh/colocation-config": '{"memoryQos": {"highRatio": 80, "lowRatio": 50, "minRatio": 25}}'}
"""What Volcano's webhook writes for a ColocationConfiguration: webhooks/admission/pods/mutate."""
OFFLINE_MEMORY = 100 << 20


def pod(name: str, node: str, resources: dict[str, Any], annotations: dict[str, str]) -> Manifest:
    """A pod that the scheduler may only place on one Node."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": SPACE, "annotations": annotations},
        "spec": {
            "nodeSelector": {"kubernetes.io/hostname": node},
            "terminationGracePeriodSeconds": 0,
            "containers": [{"name": "main", "image": IMAGE, "resources": resources}],
        },
    }


def offline(name: str, node: str) -> Manifest:
    """A BE pod that requests oversubscribed resources only."""
    batch = {BATCH_CPU: "200", BATCH_MEMORY: str(OFFLINE_MEMORY)}
    annotations = {"volcano.sh/qos-level": "BE", **BURST, **MEMORY_QOS}
    return pod(name, node, {"requests": batch, "limits": batch}, annotations)


def best_effort(name: str, node: str) -> Manifest:
    """A BE pod that requests nothing."""
    return pod(name, node, {}, {"volcano.sh/qos-level": "BE"})


def online(name: str, node: str) -> Manifest:
    """An LS pod with a limit, so that it has a quota before the agent knows it."""
    resources = {"requests": {"cpu": "500m"}, "limits": {"cpu": "1"}}
    return pod(name, node, resources, {"volcano.sh/qos-level": "LS", **BURST})


@dataclass(frozen=True)
class Workload:
    """A running pod; ``cgroups`` are those of the pod and of its container."""

    field: Field
    node: str
    name: str
    cgroups: tuple[str, ...]

    def values(self, file: str, hierarchy: str = "") -> list[str]:
        """The texts of a file in the cgroups of the pod and of its container."""
        machine = self.field.machines[self.node]
        return [(machine.directory(cgroup, hierarchy) / file).read_text().strip() for cgroup in self.cgroups]

    def quota(self) -> list[str]:
        """The quotas in microseconds of a period of 100 ms, ``-1`` and ``max`` for none."""
        if self.field.machines[self.node].version == "v1":
            return self.values("cpu.cfs_quota_us", "cpu,cpuacct")
        return [text.split()[0] for text in self.values("cpu.max")]

    def burst(self) -> list[str]:
        if self.field.machines[self.node].version == "v1":
            return self.values("cpu.cfs_burst_us", "cpu,cpuacct")
        return self.values("cpu.max.burst")

    def share(self) -> list[str]:
        if self.field.machines[self.node].version == "v1":
            return self.values("cpu.shares", "cpu,cpuacct")
        return self.values("cpu.weight")

    def memory_limit(self) -> list[str]:
        if self.field.machines[self.node].version == "v1":
            return self.values("memory.limit_in_bytes", "memory")
        return self.values("memory.max")

    def exists(self) -> bool:
        return self.field.cluster.get("Pod", self.name, SPACE) is not None


def running(field: Field, node: str, name: str) -> Workload:
    """Wait until a pod runs."""
    uid = eventually(lambda: _uid_of_ready(field, name), lambda: _why(field, name) + field.log(node), 120)
    return Workload(field, node, name, field.kubelet.pods[uid].cgroups)


def _uid_of_ready(field: Field, name: str) -> str:
    pod = field.cluster.get("Pod", name, SPACE) or {}
    conditions = (pod.get("status") or {}).get("conditions") or ()
    ready = any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
    return str(pod["metadata"]["uid"]) if ready else ""


def _why(field: Field, name: str) -> str:
    pod = field.cluster.get("Pod", name, SPACE) or {}
    return f"{name} does not run: {pod.get('status')}\n"


def besteffort_quota(field: Field, node: str) -> str:
    """The quota of the BestEffort class in microseconds of a period of 100 ms."""
    machine = field.machines[node]
    directory = machine.directory(TREES[machine.driver]["besteffort"], "cpu,cpuacct" if machine.version == "v1" else "")
    file = "cpu.cfs_quota_us" if machine.version == "v1" else "cpu.max"
    return (directory / file).read_text().split()[0]


def settings_of(field: Field, node: str) -> dict[str, str]:
    """The text of each file of all cgroups of a machine, by its path, without counters."""
    top = field.machines[node].directory("")
    return {
        str(path.relative_to(top)): path.read_text()
        for path in sorted(Path(top).rglob("*"))
        if path.is_file() and path.name not in COUNTERS
    }


COUNTERS = ("cpu.stat", "cpuacct.usage", "memory.stat")
