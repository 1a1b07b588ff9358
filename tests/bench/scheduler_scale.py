# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure the role ``scheduler`` and its configuration on a control plane with Volcano and Nodes without kubelets."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kubernetes import client, config
from kubernetes.client.rest import ApiException

from ..lab.cache import Cache
from ..lab.cluster import control_plane, volcano
from ..lab.cluster.second_api_server import second_api_server
from ..lab.cluster.volcano import NAMESPACE, SCHEDULER, SCHEDULER_CONFIG, Volcano, fake_node
from ..lab.paths import cache_root
from ..lab.program_table import KWOK
from .cost import run_measured
from .places import LOGS, OUTPUT
from .rounds import Say
from .scheduler_cost import RoleCost, SchedulerCost, count_requests

DIRECTORY = OUTPUT / "scheduler"
SPACE, GANG = "default", 100
"""Pods of one PodGroup, which are bound together."""
WAIT = 900.0
THREADS = 8
OPTIONS: Mapping[str, Any] = {
    "colocation_scheduler_dropped_actions": ["enqueue"],
    "colocation_scheduler_reclaim": True,
    "colocation_scheduler_binpack": {"weight": 1},
    "colocation_queues": [{"name": "online", "weight": 3, "reclaimable": False}, {"name": "offline", "weight": 1}],
    "colocation_admission": {"levels": [{"level": "BE", "priority_class": "colocation-be"}]},
}
"""The variables of the role: its whole work but load-aware scheduling, which needs Prometheus."""


class ScaleError(Exception):
    """A part of the measurement failed; the message says which."""


@dataclass
class ScaleCluster:
    """A running cluster; the role uses ``kubeconfig``, whose API server writes ``audit``."""

    volcano: Volcano
    kubeconfig: Path
    audit: Path
    environment: Mapping[str, str]
    api: client.CoreV1Api = field(init=False)

    def __post_init__(self) -> None:
        self.api = client.CoreV1Api(config.new_client_from_config(str(self.volcano.plane.kubeconfig)))

    def role(self, what: str, entry: str, *arguments: str, **variables: Any) -> RoleCost:
        """Run an entry of the role as a user does."""
        name = what.replace(" ", "-").replace("`", "")
        log, play = LOGS / f"scheduler-{name}.log", DIRECTORY / "play.yml"
        role = {"name": "volcano.colocation.scheduler", "tasks_from": entry}
        tasks = [{"name": "Run the role", "ansible.builtin.import_role": role}]
        play.write_text(json.dumps([{"hosts": "localhost", "gather_facts": False, "tasks": tasks}]))
        uid = self.api.read_namespace("kube-system").metadata.uid
        options = {"colocation_kubeconfig": str(self.kubeconfig), "colocation_cluster_uid": uid, **variables}
        before = self.audit.stat().st_size
        argv = ["ansible-playbook", str(play), *arguments, "-e", json.dumps(options)]
        status, cost = run_measured(argv, log, self.environment, DIRECTORY)
        if status != 0:
            raise ScaleError(f"{what} ended with {status}; its output is in {log}")
        with self.audit.open(encoding="utf-8") as events:
            events.seek(before)
            return RoleCost(what, cost, count_requests(events), "changed=0" not in log.read_text(encoding="utf-8"))

    @property
    def conf(self) -> str:
        """The text of the scheduler's ConfigMap."""
        text: str = self.api.read_namespaced_config_map(SCHEDULER_CONFIG[0], NAMESPACE).data[SCHEDULER_CONFIG[1]]
        return text

    def bind(self, conf: str, pods: int) -> float:
        """Start the scheduler with a configuration and these pending pods; how many it binds per second."""
        self.volcano.stop(SCHEDULER)
        self._delete_pods()
        self._create_pods(pods)
        change = {"data": {SCHEDULER_CONFIG[1]: conf}}
        self.api.patch_namespaced_config_map(SCHEDULER_CONFIG[0], NAMESPACE, change)
        self.volcano.start(SCHEDULER)
        return pods / self._seconds_of_binding()

    def _seconds_of_binding(self) -> float:
        """From the first bound pod to the last one."""
        deadline, began = time.monotonic() + WAIT, 0.0
        while time.monotonic() < deadline:
            if not began and self._exist("spec.nodeName!="):
                began = time.monotonic()
            if began and not self._exist("spec.nodeName="):
                return time.monotonic() - began
            time.sleep(0.1)
        raise ScaleError(f"not all pods are bound after {WAIT:.0f} s")

    def _exist(self, selector: str = "") -> bool:
        response = self.api.list_namespaced_pod(SPACE, field_selector=selector, limit=1, _preload_content=False)
        return bool(json.loads(response.data)["items"])

    def _delete_pods(self) -> None:
        """Delete all pods and PodGroups. The API server ends a request of many deletions after a minute."""
        deadline = time.monotonic() + WAIT
        while self._exist():
            if time.monotonic() > deadline:
                raise ScaleError(f"not all pods are deleted after {WAIT:.0f} s")
            try:
                self.api.delete_collection_namespaced_pod(SPACE, grace_period_seconds=0, _preload_content=False)
            except ApiException as error:
                if error.status != 504:
                    raise
        self.volcano.kubectl("delete", "podgroups", "--all", f"--namespace={SPACE}")

    def _create_pods(self, pods: int) -> None:
        groups = [pod_group(number, min(GANG, pods - number * GANG)) for number in range(-(-pods // GANG))]
        path = DIRECTORY / "groups.json"
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": groups}))
        self.volcano.kubectl("create", f"--filename={path}")

        def create(number: int) -> None:
            self.api.create_namespaced_pod(SPACE, pod(number), _preload_content=False)

        with ThreadPoolExecutor(THREADS) as threads:
            list(threads.map(create, range(pods)))


def pod_group(number: int, members: int) -> dict[str, Any]:
    metadata = {"name": f"group-{number}", "namespace": SPACE}
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": metadata,
        "spec": {"minMember": members, "queue": "default"},
    }


def pod(number: int) -> dict[str, Any]:
    """A pod of a PodGroup; ten of them fit on a Node of four CPUs."""
    annotations = {"scheduling.k8s.io/group-name": f"group-{number // GANG}"}
    requests = {"cpu": "250m", "memory": "128Mi"}
    container = {"name": "main", "image": "localhost/lab/busybox:1", "resources": {"requests": requests}}
    return {
        "metadata": {"name": f"pod-{number}", "annotations": annotations},
        "spec": {"schedulerName": "volcano", "containers": [container]},
    }


def scheduler_cost(nodes: int, pods: int, rounds: int, environment: Mapping[str, str], say: Say) -> SchedulerCost:
    """Measure in a new cluster, which is deleted at the end."""
    with _cluster(environment) as cluster:
        roles = [_install(cluster)]
        say("Volcano is installed")
        _create_nodes(cluster, nodes)
        upstream = cluster.conf
        say(f"{nodes} Nodes; warming up: {cluster.bind(upstream, pods):.0f} pods per second")
        roles += _configure(cluster)
        configured = cluster.conf
        rates: dict[str, list[float]] = {upstream: [], configured: []}
        for number in range(rounds):
            # Another one begins in each round.
            for conf in (upstream, configured) if number % 2 else (configured, upstream):
                rates[conf].append(cluster.bind(conf, pods))
                name = "upstream's" if conf == upstream else "the role's"
                say(f"round {number + 1}, {name} configuration: {rates[conf][-1]:.1f} pods per second")
        return SchedulerCost(nodes, pods, tuple(roles), tuple(rates[upstream]), tuple(rates[configured]))


@contextmanager
def _cluster(environment: Mapping[str, str]) -> Iterator[ScaleCluster]:
    os.environ["COLOCATION_LAB_STATE"] = environment["COLOCATION_LAB_STATE"]
    shutil.rmtree(DIRECTORY, ignore_errors=True)
    DIRECTORY.mkdir(parents=True)
    control_plane.down()
    built = volcano.obtain(Cache(cache_root()))
    try:
        plane = control_plane.up()
        audit = DIRECTORY / "audit.jsonl"
        policy = DIRECTORY / "audit-policy.json"
        head = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"]}
        policy.write_text(json.dumps({**head, "rules": [{"level": "Metadata"}]}))
        options = (f"--audit-policy-file={policy}", f"--audit-log-path={audit}")
        with second_api_server(plane, DIRECTORY, lambda argv: (*argv, *options)) as kubeconfig:
            yield ScaleCluster(Volcano(plane, built), kubeconfig, audit, environment)
    finally:
        control_plane.down()


def _install(cluster: ScaleCluster) -> RoleCost:
    """Install Volcano by the role, on one Node for the pods of its Deployments, and start its programs."""
    own = cluster.volcano
    own.start_kwok()
    own.create_nodes([fake_node("system", cpu="100m", memory="100Mi")])
    manifest = own.manifest()
    digest = hashlib.sha256(manifest.read_bytes()).hexdigest()
    variables = {"colocation_volcano_manifest": str(manifest), "colocation_volcano_manifest_sha256": digest}
    cost = cluster.role("`install`", "install", **variables)
    own.start()
    own.stop(KWOK)
    own.start_kwok(pods=False)
    return cost


def _create_nodes(cluster: ScaleCluster, nodes: int) -> None:
    for start in range(0, nodes, 50):
        cluster.volcano.create_nodes([fake_node(f"n{number}") for number in range(start, min(start + 50, nodes))])


def _configure(cluster: ScaleCluster) -> list[RoleCost]:
    """The runs of the role beside all Nodes and pods."""
    return [
        cluster.role("`main`, check mode", "main", "--check", **OPTIONS),
        cluster.role("`main`", "main", **OPTIONS),
        cluster.role("`main` again", "main", **OPTIONS),
        cluster.role("`audit`", "audit"),
    ]
