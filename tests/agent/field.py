# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster whose Nodes are machines of plain files with real agents, and runs of the collection on it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kubernetes.utils.quantity import parse_quantity

from ansible_collections.volcano.colocation.tests.agent.kubelet import Kubelet
from ansible_collections.volcano.colocation.tests.agent.machines import KINDS, Load, Machine
from ansible_collections.volcano.colocation.tests.lab.cluster.volcano import NAMESPACE
from ansible_collections.volcano.colocation.tests.system.node import Run, ansible
from ansible_collections.volcano.colocation.tests.volcano.cluster import Cluster, eventually
from ansible_collections.volcano.colocation.tests.volcano.objects import Manifest

RELEASES = {"new": "1.15.1", "old": "1.14.1"}
NODES = {f"{age}-{version}-{driver}": (age, version, driver) for age in RELEASES for version, driver in KINDS}
"""Release, cgroup version and driver by the Node's name."""
BLIND, MISLED = "blind", "misled"
BROKEN = {BLIND: ("new", "v2", "cgroupfs"), MISLED: ("new", "v1", "cgroupfs")}
"""Nodes whose agents another client breaks."""
MACHINES = {**NODES, **BROKEN}
BATCH_CPU, BATCH_MEMORY = "kubernetes.io/batch-cpu", "kubernetes.io/batch-memory"
COLOCATION, OVERSUBSCRIPTION = "volcano.sh/colocation", "volcano.sh/oversubscription"
TAINT = "volcano.sh/offline-job-evicting"
CPUS, RATIO = 4, 60
FEATURES = ["OverSubscription", "Eviction", "Resources", "CPUBurst", "CPUThrottle", "MemoryQoSV2"]
COLLECTION = "volcano.colocation"
TIMEOUT = 150.0
ONLINE = Load(burstable=1000)
"""The load before a test changes it."""


SYSTEM_MEMORY = 1 << 30
"""Memory that is used outside of pods. The old agents count it, the new ones do not."""


def memory_of_pods(name: str) -> int:
    """Memory that the pods of a Node use, different on each: an agent that reads another Node's files is found."""
    return (512 + 128 * list(MACHINES).index(name)) << 20


def nodes_of(age: str) -> list[str]:
    """The Nodes of one release, also those with broken agents."""
    return [name for name, kind in MACHINES.items() if kind[0] == age]


def pools_of(age: str) -> list[dict[str, Any]]:
    """One pool for each broken agent, and one for all others of the release."""
    broken = [{"name": name, "nodes": [name]} for name, kind in BROKEN.items() if kind[0] == age]
    return [{"name": age, "nodes": [name for name in nodes_of(age) if name in NODES]}, *broken]


def variables_of(age: str) -> dict[str, Any]:
    """The role's variables for the Nodes of one release."""
    return {
        "colocation_agent_image": f"localhost/lab/vc-agent:v{RELEASES[age]}",
        "colocation_agent_features": FEATURES,
        "colocation_agent_include_system_usage": age == "old",
        "colocation_agent_label_nodes": True,
        "colocation_agent_pools": pools_of(age),
        "colocation_agent_timeout": 60,
    }


@dataclass(frozen=True)
class Field:
    """The cluster, its machines, and what keeps their pods."""

    cluster: Cluster
    machines: Mapping[str, Machine]
    kubelet: Kubelet

    def role(self, age: str, *arguments: str, entry: str = "main", nodes: Sequence[str] = (), **variables: Any) -> Run:
        """Run an entry of the role ``agent`` for Nodes of one release, by default all."""
        role = {"name": f"{COLLECTION}.agent", "tasks_from": entry}
        task = {"name": "Run the role", "ansible.builtin.import_role": role}
        return self.play(nodes or nodes_of(age), [task], *arguments, **{**variables_of(age), **variables})

    def module(self, name: str, nodes: Sequence[str], **options: Any) -> dict[str, Any]:
        """The result of a module of the agent for the hosts of these Nodes."""
        path = self.cluster.server.directory / "result.json"
        settings = {"kubeconfig": self.cluster.server.kubeconfig, "nodes": nodes, **options}
        tasks: list[Manifest] = [
            {"name": "Read the facts", f"{COLLECTION}.node_facts": {}},
            {"name": "Read the host", f"{COLLECTION}.agent_host_info": {}, "register": "agent_host_info"},
            {"name": "Run", f"{COLLECTION}.{name}": settings, "run_once": True, "register": "result"},
            {
                "name": "Keep",
                "ansible.builtin.copy": {"content": "{{ result | to_json }}", "dest": str(path), "mode": "0600"},
                "run_once": True,
            },
        ]
        run = self.play(nodes, tasks)
        assert run.code == 0, run.output
        result: dict[str, Any] = json.loads(path.read_text())
        return result

    def play(self, nodes: Iterable[str], tasks: list[Manifest], *arguments: str, **variables: Any) -> Run:
        """Run tasks for the hosts of Nodes; what reads a node reads its machine."""
        hosts = {
            name: {"machine": str(self.machines[name].root), "snapshot": str(self.machines[name].snapshot)}
            for name in nodes
        }
        defaults = {
            f"{COLLECTION}.node_facts": {"snapshot": "{{ snapshot }}"},
            f"{COLLECTION}.agent_host_info": {"root": "{{ machine }}"},
        }
        server = self.cluster.server
        options = {
            "colocation_kubeconfig": server.kubeconfig,
            "agent_node_root": "{{ machine }}",
            # The process is in the cgroup of this run, so it is not found by its container's id.
            "agent_process_here": {},
            "agent_switches_root": str(server.directory),
        }
        play = {"name": "Agents", "module_defaults": defaults, "tasks": tasks}
        return server.run(play, hosts, *arguments, runner=ansible, **{**options, **variables})

    def node(self, name: str) -> Manifest:
        """The Node of the API server."""
        node = self.cluster.get("Node", name)
        assert node, name
        return node

    def amount(self, name: str, resource: str) -> int | None:
        """An allocatable amount of a Node."""
        text = self.node(name)["status"]["allocatable"].get(resource)
        return None if text is None else int(parse_quantity(text))

    def is_tainted(self, name: str) -> bool:
        return any(taint["key"] == TAINT for taint in self.node(name)["spec"].get("taints") or ())

    def daemon_set(self, name: str) -> Manifest:
        """The DaemonSet of a Node's pool."""
        pool = self.node(name)["metadata"]["labels"]["colocation.volcano.sh/pool"]
        (daemon_set,) = self.cluster.items("DaemonSet", NAMESPACE, f"colocation.volcano.sh/pool={pool}")
        return {**daemon_set, "kind": "DaemonSet"}

    def process(self, name: str) -> Path:
        """The directory in /proc of the agent of a Node."""
        agent = eventually(lambda: self.kubelet.agent_on(name), lambda: f"{name} has no agent")
        assert agent
        assert agent.process
        return Path("/proc") / str(agent.process.pid)

    def log(self, name: str) -> str:
        """The last lines of a Node's agents, for failures."""
        return f"{name}:\n{self.kubelet.log(name)[-4000:]}"
