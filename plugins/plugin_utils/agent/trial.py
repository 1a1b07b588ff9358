# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A short-lived offline pod for each pool, whose cgroup shows whether the agent there writes what it should."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...module_utils.quantity import parse_quantity
from ..facts.node_state import CgroupMode
from ..kube.changes import ObjectChange
from ..kube.objects import Object
from .feature import Feature, LeftOff
from .host import AgentHost
from .names import APP_LABEL, BATCH_CPU, NAME, OWNER, OWNER_LABEL, POOL
from .proof import FEATURES_FLAG, Agents, flag
from .seen import LiveNode
from .steps import create, delete
from .trial_values import BATCH, BURST, Expected, expected, unproven

TRIAL = "volcano-agent-probe"
"""Name of its container and value of its label; not the agent's, whose DaemonSets would count it for theirs."""
SECONDS = 600
"""After which kubelet ends it, if nobody is left to delete it."""
USER = 65534


@dataclass(frozen=True)
class Trial:
    """What is tried in one pool, on one of its Nodes."""

    pool: str
    host: AgentHost
    node: LiveNode
    image: str
    features: tuple[Feature, ...]

    @property
    def name(self) -> str:
        return f"{TRIAL}-{self.pool}"

    @property
    def batch(self) -> bool:
        """Whether the Node has enough to ask for; kubelet refuses pods that ask for more: lifecycle/predicate.go."""
        try:
            return parse_quantity(self.node.reported.get(BATCH_CPU, "0")) >= BATCH
        except ValueError:
            return False


@dataclass(frozen=True)
class Reading:
    """What agent_pod_cgroups is to read on a host, once ``reason`` is empty."""

    trial: Trial
    reason: str
    uid: str = ""
    container: str = ""
    expected: tuple[Expected, ...] = ()
    unproven: tuple[LeftOff, ...] = ()

    def published(self) -> dict[str, Any]:
        host = self.trial.host
        return {
            "pool": self.trial.pool,
            "host": host.name,
            "node": self.trial.node.name,
            "pod": self.trial.name,
            "ready": not self.reason,
            "reason": self.reason,
            "unverified": [{"feature": each.feature.value, "reason": each.reason} for each in self.unproven],
            "options": {
                "uid": self.uid,
                "container": self.container,
                "runtime": host.runtime or "",
                "cgroup_driver": host.driver.value if host.driver else "",
                "cgroup_root": f"/{host.cgroup_root.strip('/')}",
                "expected": [each.published() for each in self.expected],
            },
        }


def trials(hosts: Mapping[str, AgentHost], nodes: Iterable[LiveNode], agents: Agents) -> tuple[Trial, ...]:
    """One for each pool that has an agent on a Node of a host; ``hosts`` are by the Node's name."""
    found: dict[str, Trial] = {}
    for node in sorted((each for each in nodes if each.name in hosts), key=lambda each: each.name):
        pool, agent = node.labels.get(POOL, ""), agents.on_node(node.name)
        if pool and agent and pool not in found:
            found[pool] = Trial(pool, hosts[node.name], node, _image(agent), _features(agent))
    return tuple(found[pool] for pool in sorted(found))


def _image(agent: Object) -> str:
    return str(next(each["image"] for each in agent["spec"]["containers"] if each["name"] == NAME))


def _features(agent: Object) -> tuple[Feature, ...]:
    told = flag(agent, FEATURES_FLAG).split(",")
    return tuple(each for each in Feature if each.value in told)


def trial_pod(trial: Trial, namespace: str) -> dict[str, Any]:
    """The object: Burstable, with a quota that no write of the agent exceeds (v1 refuses more below than above)."""
    batch = {BATCH_CPU: str(BATCH)} if trial.batch else {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": trial.name,
            "namespace": namespace,
            "labels": {APP_LABEL: TRIAL, OWNER_LABEL: OWNER},
            "annotations": {
                "volcano.sh/qos-level": "BE",
                "volcano.sh/enable-quota-burst": "true",
                "volcano.sh/quota-burst-time": str(BURST),
            },
        },
        "spec": {
            # Past the scheduler: it is this Node that is tried, whatever its taints and loads.
            "nodeName": trial.node.name,
            "tolerations": [{"operator": "Exists"}],
            "restartPolicy": "Never",
            "activeDeadlineSeconds": SECONDS,
            "terminationGracePeriodSeconds": 1,
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": USER,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "containers": [
                {
                    "name": TRIAL,
                    "image": trial.image,
                    # The agent runs there, so that its image is there.
                    "imagePullPolicy": "Never",
                    "command": ["/bin/sh", "-c", f"exec sleep {SECONDS}"],
                    "resources": {
                        "requests": {"cpu": "10m", "memory": "16Mi", **batch},
                        "limits": {"cpu": "300m", "memory": "64Mi", **batch},
                    },
                    "securityContext": {
                        "allowPrivilegeEscalation": False,
                        "readOnlyRootFilesystem": True,
                        "capabilities": {"drop": ["ALL"]},
                    },
                }
            ],
        },
    }


def begun(found: Iterable[Trial], pods: Sequence[Object], namespace: str) -> Iterator[ObjectChange]:
    """Pods that are to be made, and those of an earlier run that are of no use."""
    live = {each["metadata"]["name"]: each for each in pods}
    for trial in found:
        pod = live.get(trial.name)
        if pod is None:
            body = trial_pod(trial, namespace)
            yield create(body)
        elif _of_no_use(trial, pod) and not pod["metadata"].get("deletionTimestamp"):
            yield delete(pod)


def ended(pods: Iterable[Object]) -> Iterator[ObjectChange]:
    """Every pod of ours goes, also those that an earlier run has left."""
    yield from (delete(each) for each in pods if not each["metadata"].get("deletionTimestamp"))


def readings(found: Iterable[Trial], pods: Sequence[Object]) -> tuple[Reading, ...]:
    """What can be read of the pods as they are now."""
    live = {each["metadata"]["name"]: each for each in pods}
    return tuple(_reading(each, live.get(each.name)) for each in found)


def _reading(trial: Trial, pod: Object | None) -> Reading:
    reason = _unready(trial, pod)
    if pod is None or reason:
        return Reading(trial, reason)
    limits = pod["spec"]["containers"][0].get("resources", {}).get("limits") or {}
    batch = BATCH_CPU in limits
    (status,) = pod["status"]["containerStatuses"]
    return Reading(
        trial,
        "",
        str(pod["metadata"]["uid"]),
        str(status["containerID"]).partition("://")[2],
        expected(trial.features, trial.node, v2=trial.host.mode is CgroupMode.V2, batch=batch),
        unproven(trial.features, trial.node, batch=batch),
    )


def _of_no_use(trial: Trial, pod: Object) -> bool:
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    image = [each.get("image") for each in spec.get("containers") or ()]
    ended_already = status.get("phase") in ("Failed", "Succeeded")
    return ended_already or spec.get("nodeName") != trial.node.name or image != [trial.image]


def _unready(trial: Trial, pod: Object | None) -> str:
    if pod is None:
        return "the pod is not there yet"
    if pod["metadata"].get("deletionTimestamp"):
        return "a pod of an earlier run is on its way out"
    status = pod.get("status") or {}
    parts: Sequence[Mapping[str, Any]] = status.get("containerStatuses") or ()
    conditions = {each["type"]: each for each in status.get("conditions") or ()}
    if conditions.get("Ready", {}).get("status") == "True" and parts and parts[0].get("containerID"):
        return ""
    states = (each.get("state") or {} for each in parts)
    told: Mapping[str, Any] = next(
        (one for each in states for one in (each.get("waiting"), each.get("terminated")) if one), {}
    )
    words = (told.get("reason"), told.get("message") or status.get("message"), status.get("reason"))
    return f"its pod is not Ready: {' '.join(filter(None, words)) or status.get('phase') or 'no reason given'}"
