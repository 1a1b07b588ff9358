# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A short-lived offline pod in each pool, and the values that the agent should write to the pod's cgroups.

Sources: volcano pkg/agent/events/handlers, pkg/agent/utils/pod/resources.go, pkg/agent/features/feature_gate.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ...module_utils.quantity import parse_quantity
from ..facts.node_state import CgroupMode
from ..kube.object_changes import ObjectChange
from ..kube.objects import Object, Ref
from .features import Feature, UnsupportedFeature
from .installed_agent import LiveNode
from .node_labels import LABEL_ON
from .node_proof import Agents, enabled_features
from .owned_objects import (
    AGENT_NAME,
    APP_LABEL,
    BATCH_CPU,
    COLOCATION_LABEL,
    OVERSUBSCRIPTION_LABEL,
    OWNER,
    OWNER_LABEL,
    POOL_LABEL,
    create_object,
    delete_object,
    patch_object,
)
from .probed_host import AgentHost

BATCH_MILLI_CPU = 200
"""Thousandths of a CPU. The resulting values differ from those of kubelet, so that they show the agent's work."""
BURST_MICROSECONDS = 5_000
"""Microseconds, less than every quota that the pod has during the test: a burst must not be larger than the quota."""
PERIOD_MICROSECONDS = 100_000
CGROUP_LEVELS = ("container", "pod")
UPDATED = "colocation.volcano.sh/updated"
"""Annotation whose change is an update of the pod."""

NOT_IN_CGROUPS = {
    Feature.OVERSUBSCRIPTION: f"it does not write to cgroups; see {BATCH_CPU} of the Node",
    Feature.EVICTION: "it acts only when usage exceeds the watermarks",
    Feature.CPU_THROTTLE: "it writes the quota of the BestEffort class, which depends on the node's load",
    Feature.MEMORY_QOS_V2: "it writes only for pods that a ColocationConfiguration selects, and none selects this pod",
    Feature.NETWORK_QOS: "it marks packets, which the test does not read",
}


@dataclass(frozen=True)
class ExpectedValue:
    """The text of a file in the cgroup of the pod or its container; on v1, ``controller`` selects the hierarchy."""

    feature: str
    level: str
    controller: str
    file: str
    value: str

    def to_result(self) -> dict[str, str]:
        fields = asdict(self)
        return {"value": fields.pop("value"), **fields}


def expected_values(features: Iterable[Feature], node: LiveNode, *, v2: bool, batch: bool) -> tuple[ExpectedValue, ...]:
    """The values after the agent has handled the pod. ``batch``: the pod requests BATCH_CPU."""
    off = {unverified.feature for unverified in unverified_features(features, node, batch=batch)}
    return tuple(value for feature in features if feature not in off for value in _feature_values(feature, v2=v2))


def unverified_features(features: Iterable[Feature], node: LiveNode, *, batch: bool) -> tuple[UnsupportedFeature, ...]:
    """The features that the test cannot verify on this Node, with reasons."""
    return tuple(
        UnsupportedFeature(feature, why)
        for feature in features
        for why in [_unverified_reason(feature, node, batch=batch)]
        if why
    )


def _unverified_reason(feature: Feature, node: LiveNode, *, batch: bool) -> str:
    if feature in NOT_IN_CGROUPS:
        return NOT_IN_CGROUPS[feature]
    if feature is Feature.RESOURCES:
        return "" if batch else f"it needs {BATCH_MILLI_CPU} of {BATCH_CPU}, which the Node does not have"
    # feature_gate.go Enabled; Resources is enabled on all Nodes.
    if LABEL_ON in (node.labels.get(COLOCATION_LABEL), node.labels.get(OVERSUBSCRIPTION_LABEL)):
        return ""
    return f"the Node has no label {COLOCATION_LABEL}={LABEL_ON}, without which the agent does not enable it"


def _feature_values(feature: Feature, *, v2: bool) -> Iterator[ExpectedValue]:
    quota = BATCH_MILLI_CPU * PERIOD_MICROSECONDS // 1000
    if feature is Feature.RESOURCES:
        # milliCPUToWeight, milliCPUToShares, milliCPUToMax.
        weight = ("cpu.weight", BATCH_MILLI_CPU // 10) if v2 else ("cpu.shares", BATCH_MILLI_CPU * 1024 // 1000)
        limit = ("cpu.max", f"{quota} {PERIOD_MICROSECONDS}") if v2 else ("cpu.cfs_quota_us", quota)
        yield from _on_both_levels(feature, "cpu", weight, limit)
    elif feature is Feature.CPU_BURST:
        yield from _on_both_levels(feature, "cpu", ("cpu.max.burst" if v2 else "cpu.cfs_burst_us", BURST_MICROSECONDS))
    elif feature is Feature.CPU_QOS:
        # extension/qos.go: the level of BE is -1; UpdatePodCgroup writes the pod's cgroup and those below it.
        yield from _on_both_levels(feature, "cpu", ("cpu.qos_level", -1))
    elif feature is Feature.MEMORY_QOS:
        yield from _on_both_levels(feature, "memory", ("memory.qos_level", -1))


def _on_both_levels(feature: Feature, controller: str, *files: tuple[str, object]) -> Iterator[ExpectedValue]:
    for file, value in files:
        for level in CGROUP_LEVELS:
            yield ExpectedValue(feature.value, level, controller, file, str(value))


SMOKE_TEST_NAME = "volcano-agent-probe"
"""Name of the container and app label. The agent's label is not used: its DaemonSets would adopt the pod."""
DEADLINE_SECONDS = 600
"""Seconds after which kubelet ends the pod, if an interrupted run does not delete it."""
POD_USER = 65534


@dataclass(frozen=True)
class SmokeTest:
    """The test of one pool, on one of its Nodes."""

    pool: str
    host: AgentHost
    node: LiveNode
    image: str
    features: tuple[Feature, ...]

    @property
    def name(self) -> str:
        return f"{SMOKE_TEST_NAME}-{self.pool}"

    @property
    def batch(self) -> bool:
        """Whether the Node has enough batch CPU; kubelet rejects pods that request more: lifecycle/predicate.go."""
        try:
            return parse_quantity(self.node.reported.get(BATCH_CPU, "0")) >= BATCH_MILLI_CPU
        except ValueError:
            return False


@dataclass(frozen=True)
class SmokeTestPod:
    """The pod of a test, and the values that agent_pod_cgroups should read on its host once ``reason`` is empty."""

    smoke_test: SmokeTest
    reason: str
    uid: str = ""
    container: str = ""
    expected: tuple[ExpectedValue, ...] = ()
    unverified: tuple[UnsupportedFeature, ...] = ()

    def to_result(self) -> dict[str, Any]:
        host = self.smoke_test.host
        return {
            "pool": self.smoke_test.pool,
            "host": host.name,
            "node": self.smoke_test.node.name,
            "pod": self.smoke_test.name,
            "ready": not self.reason,
            "reason": self.reason,
            "unverified": [
                {"feature": unverified.feature.value, "reason": unverified.reason} for unverified in self.unverified
            ],
            "options": {
                "uid": self.uid,
                "container": self.container,
                "runtime": host.runtime or "",
                "cgroup_driver": host.driver.value if host.driver else "",
                "cgroup_root": f"/{host.cgroup_root.strip('/')}",
                "expected": [value.to_result() for value in self.expected],
            },
        }


def plan_smoke_tests(
    hosts: Mapping[str, AgentHost], nodes: Iterable[LiveNode], agents: Agents
) -> tuple[SmokeTest, ...]:
    """One test for each pool that has an agent on a host's Node; ``hosts`` are by the Node's name."""
    tests: dict[str, SmokeTest] = {}
    for node in sorted((item for item in nodes if item.name in hosts), key=lambda item: item.name):
        pool, agent = node.labels.get(POOL_LABEL, ""), agents.on_node(node.name)
        if pool and agent and pool not in tests:
            tests[pool] = SmokeTest(pool, hosts[node.name], node, _image(agent), enabled_features(agent))
    return tuple(tests[pool] for pool in sorted(tests))


def _image(agent: Object) -> str:
    return str(next(container["image"] for container in agent["spec"]["containers"] if container["name"] == AGENT_NAME))


def _pod_resources(smoke_test: SmokeTest) -> dict[str, Any]:
    """Those of a Burstable pod. As in real offline pods, the agent sets the quota if it can.

    A quota of kubelet would hide that the agent's first event sets no burst. It must not be less than the values of the
    agent: v1 refuses more than the parent has.
    """
    batch = {BATCH_CPU: str(BATCH_MILLI_CPU)} if smoke_test.batch else {}
    limit = {} if smoke_test.batch and Feature.RESOURCES in smoke_test.features else {"cpu": "300m"}
    return {
        "requests": {"cpu": "10m", "memory": "16Mi", **batch},
        "limits": {**limit, "memory": "64Mi", **batch},
    }


def render_pod(smoke_test: SmokeTest, namespace: str) -> dict[str, Any]:
    """The pod that is verified."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": smoke_test.name,
            "namespace": namespace,
            "labels": {APP_LABEL: SMOKE_TEST_NAME, OWNER_LABEL: OWNER},
            "annotations": {
                "volcano.sh/qos-level": "BE",
                "volcano.sh/enable-quota-burst": "true",
                "volcano.sh/quota-burst-time": str(BURST_MICROSECONDS),
            },
        },
        "spec": {
            # Without the scheduler: the test needs this Node, regardless of its taints and load.
            "nodeName": smoke_test.node.name,
            "tolerations": [{"operator": "Exists"}],
            "restartPolicy": "Never",
            "activeDeadlineSeconds": DEADLINE_SECONDS,
            "terminationGracePeriodSeconds": 1,
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": POD_USER,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "containers": [
                {
                    "name": SMOKE_TEST_NAME,
                    "image": smoke_test.image,
                    # The image exists on the Node, since the agent runs there.
                    "imagePullPolicy": "Never",
                    "command": ["/bin/sh", "-c", f"exec sleep {DEADLINE_SECONDS}"],
                    "resources": _pod_resources(smoke_test),
                    "securityContext": {
                        "allowPrivilegeEscalation": False,
                        "readOnlyRootFilesystem": True,
                        "capabilities": {"drop": ["ALL"]},
                    },
                }
            ],
        },
    }


def start_changes(tests: Iterable[SmokeTest], pods: Sequence[Object], namespace: str) -> Iterator[ObjectChange]:
    """Create missing pods, and delete pods of an earlier run that cannot be used."""
    live = {item["metadata"]["name"]: item for item in pods}
    for smoke_test in tests:
        pod = live.get(smoke_test.name)
        if pod is None:
            body = render_pod(smoke_test, namespace)
            yield create_object(body)
        elif _is_unusable(smoke_test, pod) and not pod["metadata"].get("deletionTimestamp"):
            yield delete_object(pod)


def update_changes(pods: Iterable[Object]) -> Iterator[ObjectChange]:
    """Change an annotation of the pods, so that their agents handle them again."""
    for pod in pods:
        if not pod["metadata"].get("deletionTimestamp"):
            annotations = {UPDATED: str(pod["metadata"].get("resourceVersion", ""))}
            body = {
                **Ref.of(pod).header(),
                "metadata": {**Ref.of(pod).header()["metadata"], "annotations": annotations},
            }
            yield patch_object(body, {}, {"annotations": annotations})


def cleanup_changes(pods: Iterable[Object]) -> Iterator[ObjectChange]:
    """Delete all pods of tests, including those of earlier runs."""
    yield from (delete_object(pod) for pod in pods if not pod["metadata"].get("deletionTimestamp"))


def smoke_test_pods(tests: Iterable[SmokeTest], pods: Sequence[Object]) -> tuple[SmokeTestPod, ...]:
    """The tests with the current state of their pods."""
    live = {pod["metadata"]["name"]: pod for pod in pods}
    return tuple(_smoke_test_pod(test, live.get(test.name)) for test in tests)


def _smoke_test_pod(smoke_test: SmokeTest, pod: Object | None) -> SmokeTestPod:
    reason = _unready_reason(smoke_test, pod)
    if pod is None or reason:
        return SmokeTestPod(smoke_test, reason)
    limits = pod["spec"]["containers"][0].get("resources", {}).get("limits") or {}
    batch = BATCH_CPU in limits
    (status,) = pod["status"]["containerStatuses"]
    return SmokeTestPod(
        smoke_test,
        "",
        str(pod["metadata"]["uid"]),
        str(status["containerID"]).partition("://")[2],
        expected_values(smoke_test.features, smoke_test.node, v2=smoke_test.host.mode is CgroupMode.V2, batch=batch),
        unverified_features(smoke_test.features, smoke_test.node, batch=batch),
    )


def _is_unusable(smoke_test: SmokeTest, pod: Object) -> bool:
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    image = [container.get("image") for container in spec.get("containers") or ()]
    ended_already = status.get("phase") in ("Failed", "Succeeded")
    return ended_already or spec.get("nodeName") != smoke_test.node.name or image != [smoke_test.image]


def _unready_reason(smoke_test: SmokeTest, pod: Object | None) -> str:
    if pod is None:
        return "the pod does not exist yet"
    if pod["metadata"].get("deletionTimestamp"):
        return "a pod of an earlier run is still being deleted"
    status = pod.get("status") or {}
    statuses: Sequence[Mapping[str, Any]] = status.get("containerStatuses") or ()
    conditions = {condition["type"]: condition for condition in status.get("conditions") or ()}
    if conditions.get("Ready", {}).get("status") == "True" and statuses and statuses[0].get("containerID"):
        return ""
    states = (status.get("state") or {} for status in statuses)
    current: Mapping[str, Any] = next(
        (details for state in states for details in (state.get("waiting"), state.get("terminated")) if details), {}
    )
    words = (current.get("reason"), current.get("message") or status.get("message"), status.get("reason"))
    return f"its pod is not Ready: {' '.join(filter(None, words)) or status.get('phase') or 'no reason given'}"
