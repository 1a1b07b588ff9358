# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the agent works on its Nodes, by what the API server and the nodes report.

While a rolling update goes on, pods of the previous template are Ready too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ...module_utils.cgroup.kubelet_names import Driver, KubeletTree
from ..kube.objects import Object
from ..kube.wait import condition, waiting_containers
from .features import Feature
from .installed_agent import LiveNode
from .node_labels import LABEL_ON
from .owned_objects import AGENT_NAME, BATCH_CPU, OVERSUBSCRIPTION_LABEL, POOL_LABEL
from .probed_host import AgentHost

CHANGED_BY_ADMISSION = "imagePullPolicy"
"""Of containers: AlwaysPullImages writes it in pods, and in no template (plugin/pkg/admission/alwayspullimages)."""
TEMPLATE_GENERATION, POD_GENERATION = "deprecated.daemonset.template.generation", "pod-template-generation"
"""Annotation of a DaemonSet and label of its pods (pkg/controller/daemon/util/daemonset_util.go)."""


def previous_template(daemon_set: Object, pod: Object) -> str:
    """What of the pod is not as its DaemonSet has it now; empty for a pod of the present template.

    The DaemonSet's own count comes first: it knows what admission has made of its pods.
    """
    status = daemon_set.get("status") or {}
    desired = status.get("desiredNumberScheduled", 0)
    if desired and status.get("updatedNumberScheduled", 0) >= desired:
        return ""
    differences = tuple(_differences(daemon_set["spec"]["template"]["spec"], pod["spec"]))
    return ", ".join(differences) or _generation(daemon_set, pod)


def _generation(daemon_set: Object, pod: Object) -> str:
    """What a template says no more shows nowhere else: a pod may have it from somebody else."""
    current = (daemon_set["metadata"].get("annotations") or {}).get(TEMPLATE_GENERATION)
    made = (pod["metadata"].get("labels") or {}).get(POD_GENERATION)
    return f"template {made} of {current}" if current and made and current != made else ""


def _differences(template: Mapping[str, Any], live: Mapping[str, Any]) -> Iterator[str]:
    for part in ("initContainers", "containers"):
        containers = {container["name"]: container for container in live.get(part) or ()}
        for one in template.get(part) or ():
            has = containers.get(one["name"], {})
            keys = [key for key in one if key != CHANGED_BY_ADMISSION and not _pod_covers(has.get(key), one[key])]
            if keys:
                yield f"{', '.join(keys)} of {one['name']}"
    yield from (key for key in ("securityContext", "volumes") if not _pod_covers(live.get(key), template.get(key)))


def _pod_covers(live: Any, template: Any) -> bool:
    """Whether a pod's value says what a template's does. It may say more: the mount of a token, a limit, a variable."""
    if template in (None, {}, []):
        return True
    if isinstance(template, Mapping):
        return isinstance(live, Mapping) and all(_pod_covers(live.get(key), value) for key, value in template.items())
    if isinstance(template, list) and isinstance(template[0], Mapping):
        return isinstance(live, list) and all(any(_pod_covers(one, item) for one in live) for item in template)
    return bool(live == template)


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

    def to_result(self) -> dict[str, Any]:
        fields = asdict(self)
        return {"agent_reason": fields.pop("agent"), **fields, "verified": not self.reasons}


@dataclass(frozen=True)
class Agents:
    """The agent's DaemonSets and pods as the API server has them; ``oversubscribed``: batch-cpu is expected."""

    daemon_sets: Sequence[Object]
    pods: Sequence[Object]
    oversubscribed: bool

    def of_pool(self, pool: str) -> Object | None:
        labelled = (
            daemon_set
            for daemon_set in self.daemon_sets
            if (daemon_set["metadata"].get("labels") or {}).get(POOL_LABEL) == pool
        )
        return next(labelled, None)

    def on_node(self, node: str) -> Object | None:
        """The youngest pod there."""
        pods = [pod for pod in self.pods if (pod.get("spec") or {}).get("nodeName") == node]
        return max(pods, key=lambda pod: str(pod["metadata"].get("creationTimestamp") or ""), default=None)


def prove_nodes(hosts: Mapping[str, AgentHost], nodes: Iterable[LiveNode], agents: Agents) -> tuple[NodeProof, ...]:
    """A proof for each Node of a host; ``hosts`` are by the Node's name."""
    return tuple(_prove_node(hosts[node.name], node, agents) for node in nodes if node.name in hosts)


def _prove_node(host: AgentHost, node: LiveNode, agents: Agents) -> NodeProof:
    pool = node.labels.get(POOL_LABEL, "")
    daemon_set, pod = agents.of_pool(pool), agents.on_node(node.name)
    agent = _absent_reason(pool, daemon_set, pod) or _unready_reason(daemon_set or {}, pod or {})
    cgroup, cgroup_reason = _pods_cgroup(host, pod) if pod else ("", "")
    amount = node.reported.get(BATCH_CPU, "")
    batch_cpu_reason = _why_no_batch_cpu(node, agent, pod) if agents.oversubscribed and not amount else ""
    return NodeProof(node.name, pool, agent, cgroup, cgroup_reason, amount, batch_cpu_reason)


def _absent_reason(pool: str, daemon_set: Object | None, pod: Object | None) -> str:
    if not pool:
        return f"the Node has no label {POOL_LABEL}"
    if daemon_set is None:
        return f"there is no DaemonSet for its pool {pool}"
    return "no pod of the agent is on it" if pod is None else ""


def _unready_reason(daemon_set: Object, pod: Object) -> str:
    """Why the pod is not the one that is wanted, or not Ready."""
    if (daemon_set.get("status") or {}).get("observedGeneration", 0) < daemon_set["metadata"].get("generation", 0):
        return "the DaemonSet's last change has not been taken up yet"
    if pod["metadata"].get("deletionTimestamp"):
        return "the pod on it is on its way out"
    other = previous_template(daemon_set, pod)
    if other:
        return f"the pod on it is still the former one ({other})"
    ready = condition(pod, "Ready")
    if ready.get("status") == "True":
        return ""
    phase = (pod.get("status") or {}).get("phase")
    reason = waiting_containers(pod) or ready.get("message") or phase or "no reason given"
    return f"the agent is not Ready: {reason}"


def flag_value(pod: Object, name: str) -> str:
    """The value of a flag that the agent in a pod was started with."""
    words = [
        word
        for container in pod["spec"]["containers"]
        if container["name"] == AGENT_NAME
        for word in container.get("args") or ()
    ]
    return next((word.partition("=")[2] for word in reversed(words) if word.startswith(f"{name}=")), "")


def variable_value(pod: Object, name: str) -> str:
    """The value of an environment variable of it."""
    variables = [
        one
        for container in pod["spec"]["containers"]
        if container["name"] == AGENT_NAME
        for one in container.get("env") or ()
    ]
    return next((str(one.get("value") or "") for one in variables if one["name"] == name), "")


def _pods_cgroup(host: AgentHost, pod: Object) -> tuple[str, str]:
    """(where the agent in the pod looks for pods, why that is not where they are)."""
    driver = variable_value(pod, "CGROUP_DRIVER")
    if driver not in [known.value for known in Driver]:
        return "", f"CGROUP_DRIVER of its pod is {driver!r}, so that it guesses the driver"
    path = KubeletTree(Driver(driver), f"/{flag_value(pod, ROOT_FLAG)}").pods()
    if host.driver is not None and driver != host.driver.value:
        return path, f"the agent has the {driver} driver and kubelet {host.driver.value}"
    if not any(tree.endswith(f"/{path}") for tree in host.trees):
        return path, f"the agent looks for pods in {path}, and there is {', '.join(host.trees) or 'no cgroup of pods'}"
    return path, ""


def _why_no_batch_cpu(node: LiveNode, agent: str, pod: Object | None) -> str:
    missing = f"{BATCH_CPU} is not among its allocatable resources"
    if node.labels.get(OVERSUBSCRIPTION_LABEL) != LABEL_ON:
        return f"{missing}: the Node has no label {OVERSUBSCRIPTION_LABEL}={LABEL_ON}"
    if agent or pod is None:
        return f"{missing}: no agent works there"
    if Feature.OVERSUBSCRIPTION.value not in flag_value(pod, FEATURES_FLAG).split(","):
        return f"{missing}: its agent has no {Feature.OVERSUBSCRIPTION.value}"
    return f"{missing}: the agent has not reported it; its log says why"
