# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Verify that the agent works on its Nodes, from the objects of the API server and the facts of the nodes.

During a rolling update, pods of the previous template are Ready too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ...module_utils.cgroup.kubelet_names import Driver, KubeletTree
from ...module_utils.quantity import parse_quantity
from ..kube.objects import Object
from ..kube.wait import condition, waiting_containers
from .features import WITHOUT_CGROUP_WRITES, Feature
from .installed_agent import LiveNode
from .node_labels import LABEL_ON
from .owned_objects import AGENT_NAME, BATCH_CPU, BATCH_MEMORY, OVERSUBSCRIPTION_LABEL, POOL_LABEL
from .probed_host import AgentHost

CHANGED_BY_ADMISSION = "imagePullPolicy"
"""Field of containers that AlwaysPullImages sets in pods, not in templates: plugin/pkg/admission/alwayspullimages."""
TEMPLATE_GENERATION, POD_GENERATION = "deprecated.daemonset.template.generation", "pod-template-generation"
"""Annotation of a DaemonSet and label of its pods (pkg/controller/daemon/util/daemonset_util.go)."""


def previous_template(daemon_set: Object, pod: Object) -> str:
    """How a pod differs from its DaemonSet's current template; empty if it does not.

    The DaemonSet's own count takes precedence, since admission may change pods.
    """
    status = daemon_set.get("status") or {}
    desired = status.get("desiredNumberScheduled", 0)
    if desired and status.get("updatedNumberScheduled", 0) >= desired:
        return ""
    differences = tuple(_differences(daemon_set["spec"]["template"]["spec"], pod["spec"]))
    return ", ".join(differences) or _generation(daemon_set, pod)


def _generation(daemon_set: Object, pod: Object) -> str:
    """Only the generation shows that a field was removed from the template: admission may also add fields to a pod."""
    current = (daemon_set["metadata"].get("annotations") or {}).get(TEMPLATE_GENERATION)
    made = (pod["metadata"].get("labels") or {}).get(POD_GENERATION)
    return f"template {made} of {current}" if current and made and current != made else ""


def _differences(template: Mapping[str, Any], live: Mapping[str, Any]) -> Iterator[str]:
    for part in ("initContainers", "containers"):
        containers = {container["name"]: container for container in live.get(part) or ()}
        for desired in template.get(part) or ():
            current = containers.get(desired["name"], {})
            keys = [
                key
                for key in desired
                if key != CHANGED_BY_ADMISSION and not _pod_covers(current.get(key), desired[key])
            ]
            if keys:
                yield f"{', '.join(keys)} of {desired['name']}"
    yield from (key for key in ("securityContext", "volumes") if not _pod_covers(live.get(key), template.get(key)))


def _pod_covers(live: Any, template: Any) -> bool:
    """Whether a pod's value contains the template's. Admission may add a token's mount, a limit or a variable."""
    if template in (None, {}, []):
        return True
    if isinstance(template, Mapping):
        return isinstance(live, Mapping) and all(_pod_covers(live.get(key), value) for key, value in template.items())
    if isinstance(template, list) and isinstance(template[0], Mapping):
        return isinstance(live, list) and all(any(_pod_covers(one, item) for one in live) for item in template)
    return bool(live == template)


ROOT_FLAG, FEATURES_FLAG, RATIO_FLAG = "--kube-cgroup-root", "--supported-features", "--oversubscription-ratio"


@dataclass(frozen=True)
class NodeProof:
    """The state of one Node. ``agent`` is why the agent does not work; all reasons are empty if there is no problem.

    ``process``: options of agent_process_info for the agent's process; empty if there is a problem.
    """

    host: str
    node: str
    pool: str
    agent: str
    cgroup: str
    cgroup_reason: str
    batch_cpu: str
    batch_cpu_reason: str
    process: Mapping[str, Any]
    usage_reason: str = ""

    @property
    def reasons(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.agent, self.cgroup_reason, self.batch_cpu_reason, self.usage_reason)))

    def to_result(self) -> dict[str, Any]:
        fields = asdict(self)
        process = {} if self.reasons else dict(fields.pop("process"))
        return {"agent_reason": fields.pop("agent"), **fields, "process": process, "verified": not self.reasons}


@dataclass(frozen=True)
class Agents:
    """The agent's DaemonSets and pods of the API server; ``oversubscribed``: Nodes should have batch-cpu."""

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
        """The newest pod on the Node; None if it has none."""
        pods = [pod for pod in self.pods if (pod.get("spec") or {}).get("nodeName") == node]
        return max(pods, key=lambda pod: str(pod["metadata"].get("creationTimestamp") or ""), default=None)


def prove_nodes(hosts: Mapping[str, AgentHost], nodes: Iterable[LiveNode], agents: Agents) -> tuple[NodeProof, ...]:
    """The state of the Nodes of hosts; ``hosts`` are by the Node's name."""
    return tuple(_prove_node(hosts[node.name], node, agents) for node in nodes if node.name in hosts)


def _prove_node(host: AgentHost, node: LiveNode, agents: Agents) -> NodeProof:
    pool = node.labels.get(POOL_LABEL, "")
    daemon_set, pod = agents.of_pool(pool), agents.on_node(node.name)
    agent = _absent_reason(pool, daemon_set, pod) or _unready_reason(daemon_set or {}, pod or {})
    cgroup, cgroup_reason = _pods_cgroup(host, pod) if pod else ("", "")
    amount = node.reported.get(BATCH_CPU, "")
    batch_cpu_reason = _why_no_batch_cpu(node, agent, pod) if agents.oversubscribed and not amount else ""
    process = _process(pod, cgroup) if pod else {}
    usage_reason = _why_not_measured(node, pod, cgroup) if agents.oversubscribed and pod else ""
    return NodeProof(
        host.name, node.name, pool, agent, cgroup, cgroup_reason, amount, batch_cpu_reason, process, usage_reason
    )


def _process(pod: Object, cgroup: str) -> dict[str, Any]:
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    container = next((status.get("containerID") or "" for status in statuses if status["name"] == AGENT_NAME), "")
    features = enabled_features(pod)
    return {
        "container": container.partition("://")[2],
        "cgroup": cgroup,
        "writes": any(feature not in WITHOUT_CGROUP_WRITES for feature in features),
    }


def enabled_features(pod: Object) -> tuple[Feature, ...]:
    """The features of the agent in a pod, by its flag."""
    names = flag_value(pod, FEATURES_FLAG).split(",")
    return tuple(feature for feature in Feature if feature.value in names)


def _absent_reason(pool: str, daemon_set: Object | None, pod: Object | None) -> str:
    if not pool:
        return f"the Node has no label {POOL_LABEL}"
    if daemon_set is None:
        return f"its pool {pool} has no DaemonSet"
    return "the agent has no pod on this Node" if pod is None else ""


def _unready_reason(daemon_set: Object, pod: Object) -> str:
    """Why the pod is not of the current template, or not Ready; empty if it is."""
    if (daemon_set.get("status") or {}).get("observedGeneration", 0) < daemon_set["metadata"].get("generation", 0):
        return "the DaemonSet controller has not observed the last change yet"
    if pod["metadata"].get("deletionTimestamp"):
        return "its pod is being deleted"
    differences = previous_template(daemon_set, pod)
    if differences:
        return f"its pod still has the previous template ({differences})"
    ready = condition(pod, "Ready")
    if ready.get("status") == "True":
        return ""
    phase = (pod.get("status") or {}).get("phase")
    reason = waiting_containers(pod) or ready.get("message") or phase or "no reason given"
    return f"the agent is not Ready: {reason}"


def flag_value(pod: Object, name: str) -> str:
    """The value of a command line flag of the agent in a pod; empty if it is not set."""
    words = [
        word
        for container in pod["spec"]["containers"]
        if container["name"] == AGENT_NAME
        for word in container.get("args") or ()
    ]
    return next((word.partition("=")[2] for word in reversed(words) if word.startswith(f"{name}=")), "")


def variable_value(pod: Object, name: str) -> str:
    """The value of an environment variable of the agent in a pod; empty if it is not set."""
    variables = [
        variable
        for container in pod["spec"]["containers"]
        if container["name"] == AGENT_NAME
        for variable in container.get("env") or ()
    ]
    return next((str(variable.get("value") or "") for variable in variables if variable["name"] == name), "")


def _pods_cgroup(host: AgentHost, pod: Object) -> tuple[str, str]:
    """(the cgroup in which the agent expects pods, why that is wrong)."""
    driver = variable_value(pod, "CGROUP_DRIVER")
    if driver not in [known.value for known in Driver]:
        return "", f"CGROUP_DRIVER of its pod is {driver!r}, so the agent detects the driver itself"
    path = KubeletTree(Driver(driver), f"/{flag_value(pod, ROOT_FLAG)}").pods()
    if host.driver is not None and driver != host.driver.value:
        return path, f"the agent uses the {driver} driver, and kubelet {host.driver.value}"
    if not any(tree.endswith(f"/{path}") for tree in host.trees):
        return (
            path,
            f"the agent expects pods in {path}, and the node has {', '.join(host.trees) or 'no cgroup of pods'}",
        )
    return path, ""


def _why_no_batch_cpu(node: LiveNode, agent: str, pod: Object | None) -> str:
    missing = f"{BATCH_CPU} is not among its allocatable resources"
    if node.labels.get(OVERSUBSCRIPTION_LABEL) != LABEL_ON:
        return f"{missing}: the Node has no label {OVERSUBSCRIPTION_LABEL}={LABEL_ON}"
    if agent or pod is None:
        return f"{missing}: no agent works on it"
    if Feature.OVERSUBSCRIPTION not in enabled_features(pod):
        return f"{missing}: its agent does not have the feature {Feature.OVERSUBSCRIPTION.value}"
    return f"{missing}: the agent has not reported it; see the agent's log"


def _why_not_measured(node: LiveNode, pod: Object, cgroup: str) -> str:
    """Why the amounts do not depend on usage; empty if they do, or if the Node does not oversubscribe memory.

    An agent that cannot read the cgroup of pods counts a usage of 0 (pkg/resourceusage/resource_usage_getter.go), which
    is not possible for memory: the agent itself is a pod.
    """
    amount, ratio = node.reported.get(BATCH_MEMORY, ""), flag_value(pod, RATIO_FLAG)
    allocatable = (((node.observed or {}).get("status") or {}).get("allocatable") or {}).get("memory", "")
    if not (amount and allocatable and ratio.isdecimal()):
        return ""
    reported = parse_quantity(amount)
    if not reported or reported != int(parse_quantity(allocatable)) * int(ratio) // 100:
        return ""
    return (
        f"{BATCH_MEMORY} is {ratio} % of all memory of the Node, as if its pods used none: the agent cannot read"
        f" {cgroup or 'the cgroup of pods'} in its container; see the agent's log"
    )
