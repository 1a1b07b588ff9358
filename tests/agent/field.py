# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster whose Nodes are machines of plain files with real agents, and runs of the collection on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.volcano.colocation.tests.agent.kubelet import Kubelet
from ansible_collections.volcano.colocation.tests.agent.machines import KINDS, Machine
from ansible_collections.volcano.colocation.tests.system.node import Run, ansible
from ansible_collections.volcano.colocation.tests.volcano.cluster import Cluster
from ansible_collections.volcano.colocation.tests.volcano.objects import Manifest

RELEASES = {"new": "1.15.1", "old": "1.14.1"}
NODES = {f"{age}-{version}-{driver}": (age, version, driver) for age in RELEASES for version, driver in KINDS}
"""Release, cgroup version and driver by the Node's name."""
BATCH_CPU, BATCH_MEMORY = "kubernetes.io/batch-cpu", "kubernetes.io/batch-memory"
CPUS, MEMORY = 4, 8 << 30
FEATURES = ["OverSubscription", "Eviction", "Resources", "CPUBurst", "CPUThrottle", "MemoryQoSV2"]
COLLECTION = "volcano.colocation"


def nodes_of(age: str) -> list[str]:
    return [name for name, kind in NODES.items() if kind[0] == age]


def image_of(age: str) -> str:
    return f"localhost/lab/vc-agent:v{RELEASES[age]}"


def variables_of(age: str) -> dict[str, Any]:
    """The role's variables for the Nodes of one release."""
    return {
        "colocation_agent_image": image_of(age),
        "colocation_agent_features": FEATURES,
        "colocation_agent_label_nodes": True,
        "colocation_agent_pools": [{"name": age, "nodes": nodes_of(age)}],
        "colocation_agent_timeout": 240,
    }


@dataclass(frozen=True)
class Field:
    """The cluster, its machines, and what keeps their pods."""

    cluster: Cluster
    machines: Mapping[str, Machine]
    kubelet: Kubelet

    def role(self, age: str, *arguments: str, entry: str = "main", **variables: Any) -> Run:
        """Run an entry of the role ``agent`` for the Nodes of one release."""
        role = {"name": f"{COLLECTION}.agent", "tasks_from": entry}
        task = {"name": "Run the role", "ansible.builtin.import_role": role}
        return self.play(nodes_of(age), [task], *arguments, **{**variables_of(age), **variables})

    def modules(self, nodes: Iterable[str], *tasks: Manifest, **variables: Any) -> Run:
        """Run modules of the agent after those that read the machines."""
        look = [
            {"name": "Read the facts", f"{COLLECTION}.node_facts": {}},
            {"name": "Read the host", f"{COLLECTION}.agent_host_info": {}, "register": "agent_host_info"},
        ]
        return self.play(nodes, [*look, *tasks], **variables)

    def play(self, nodes: Iterable[str], tasks: list[Manifest], *arguments: str, **variables: Any) -> Run:
        """Run tasks for the hosts of Nodes; what reads a node reads its machine."""
        hosts = {
            name: {"machine": str(self.machines[name].root), "snapshot": str(self.machines[name].snapshot)}
            for name in nodes
        }
        defaults = {
            f"{COLLECTION}.node_facts": {"snapshot": "{{ snapshot }}"},
            f"{COLLECTION}.agent_host_info": {"root": "{{ machine }}"},
            f"{COLLECTION}.agent_pod_cgroups": {"root": "{{ machine }}"},
        }
        server = self.cluster.server
        options = {"colocation_kubeconfig": server.kubeconfig, "agent_switches_root": str(server.directory)}
        play = {"name": "Agents", "module_defaults": defaults, "tasks": tasks}
        return server.run(play, hosts, *arguments, runner=ansible, **{**options, **variables})

    def node(self, name: str) -> Manifest:
        """The Node of the API server."""
        node = self.cluster.get("Node", name)
        assert node, name
        return node

    def allocatable(self, name: str) -> dict[str, str]:
        return dict(self.node(name)["status"]["allocatable"])

    def log(self, name: str) -> str:
        return self.kubelet.log(name)[-4000:]
