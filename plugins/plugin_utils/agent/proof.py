# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the agent works on its Nodes: by what the API server and the node itself say, not by what was written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ...module_utils.cgroup.kubelet_names import Driver, KubeletTree
from ..kube.objects import Object
from ..kube.wait import condition, waiting_containers
from .feature import Feature
from .former import former
from .host import AgentHost
from .labels import ON
from .names import BATCH_CPU, NAME, OVERSUBSCRIPTION, POOL
from .seen import LiveNode

ROOT_FLAG, FEATURES_FLAG = "--kube-cgroup-root", "--supported-features"


@dataclass(frozen=True)
class NodeProof:
    """What is true of one Node. ``agent`` and the reasons are empty where it is as it should be."""

    node: str
    pool: str
    agent: str
    cgroup: str
    cgroup_reason: str
    batch_cpu: str
    batch_cpu_reason: str

    @property
    def reasons(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.agent, self.cgroup_reason, self.batch_cpu_reason)))

    def published(self) -> dict[str, Any]:
        told = asdict(self)
        return {"agent_reason": told.pop("agent"), **told, "verified": not self.reasons}


@dataclass(frozen=True)
class Agents:
    """The agent's DaemonSets and pods as the API server has them; ``oversubscribed``: batch-cpu is expected."""

    daemon_sets: Sequence[Object]
    pods: Sequence[Object]
    oversubscribed: bool

    def of_pool(self, pool: str) -> Object | None:
        labelled = (each for each in self.daemon_sets if (each["metadata"].get("labels") or {}).get(POOL) == pool)
        return next(labelled, None)

    def on_node(self, node: str) -> Object | None:
        """The youngest pod there."""
        found = [each for each in self.pods if (each.get("spec") or {}).get("nodeName") == node]
        return max(found, key=lambda each: str(each["metadata"].get("creationTimestamp") or ""), default=None)


def prove(hosts: Mapping[str, AgentHost], nodes: Iterable[LiveNode], agents: Agents) -> tuple[NodeProof, ...]:
    """A proof for each Node of a host; ``hosts`` are by the Node's name."""
    return tuple(_prove(hosts[node.name], node, agents) for node in nodes if node.name in hosts)


def _prove(host: AgentHost, node: LiveNode, agents: Agents) -> NodeProof:
    pool = node.labels.get(POOL, "")
    found, pod = agents.of_pool(pool), agents.on_node(node.name)
    agent = _absent(pool, found, pod) or _unready(found or {}, pod or {})
    cgroup, cgroup_reason = _cgroup(host, pod) if pod else ("", "")
    amount = node.reported.get(BATCH_CPU, "")
    lacks = _why_no_batch_cpu(node, agent, pod) if agents.oversubscribed and not amount else ""
    return NodeProof(node.name, pool, agent, cgroup, cgroup_reason, amount, lacks)


def _absent(pool: str, found: Object | None, pod: Object | None) -> str:
    if not pool:
        return f"the Node has no label {POOL}"
    if found is None:
        return f"there is no DaemonSet for its pool {pool}"
    return "no pod of the agent is on it" if pod is None else ""


def _unready(found: Object, pod: Object) -> str:
    """Why the pod is not the one that is wanted, or not Ready."""
    if (found.get("status") or {}).get("observedGeneration", 0) < found["metadata"].get("generation", 0):
        return "the DaemonSet's last change has not been taken up yet"
    if pod["metadata"].get("deletionTimestamp"):
        return "the pod on it is on its way out"
    other = former(found, pod)
    if other:
        return f"the pod on it is still the former one ({other})"
    ready = condition(pod, "Ready")
    if ready.get("status") == "True":
        return ""
    phase = (pod.get("status") or {}).get("phase")
    reason = waiting_containers(pod) or ready.get("message") or phase or "no reason given"
    return f"the agent is not Ready: {reason}"


def flag(pod: Object, name: str) -> str:
    """The value of a flag that the agent in a pod was started with."""
    words = [word for each in pod["spec"]["containers"] if each["name"] == NAME for word in each.get("args") or ()]
    return next((word.partition("=")[2] for word in reversed(words) if word.startswith(f"{name}=")), "")


def variable(pod: Object, name: str) -> str:
    """The value of an environment variable of it."""
    found = [one for each in pod["spec"]["containers"] if each["name"] == NAME for one in each.get("env") or ()]
    return next((str(one.get("value") or "") for one in found if one["name"] == name), "")


def _cgroup(host: AgentHost, pod: Object) -> tuple[str, str]:
    """(where the agent in the pod looks for pods, why that is not where they are)."""
    told = variable(pod, "CGROUP_DRIVER")
    if told not in [each.value for each in Driver]:
        return "", f"CGROUP_DRIVER of its pod is {told!r}, so that it guesses the driver"
    path = KubeletTree(Driver(told), f"/{flag(pod, ROOT_FLAG)}").pods()
    if host.driver is not None and told != host.driver.value:
        return path, f"the agent has the {told} driver and kubelet {host.driver.value}"
    if not any(tree.endswith(f"/{path}") for tree in host.trees):
        return path, f"the agent looks for pods in {path}, and there is {', '.join(host.trees) or 'no cgroup of pods'}"
    return path, ""


def _why_no_batch_cpu(node: LiveNode, agent: str, pod: Object | None) -> str:
    missing = f"{BATCH_CPU} is not among its allocatable resources"
    if node.labels.get(OVERSUBSCRIPTION) != ON:
        return f"{missing}: the Node has no label {OVERSUBSCRIPTION}={ON}"
    if agent or pod is None:
        return f"{missing}: no agent works there"
    if Feature.OVERSUBSCRIPTION.value not in flag(pod, FEATURES_FLAG).split(","):
        return f"{missing}: its agent has no {Feature.OVERSUBSCRIPTION.value}"
    return f"{missing}: the agent has not reported it; its log says why"
