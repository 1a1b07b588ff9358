# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What kubelet and the runtime do with pods, for machines of plain files.

A pod gets its cgroups before its containers run, and they are deleted with it. Only the agent's container has a
process, which decides whether its pod is Ready; all others are Ready immediately. The judge of cgroup names gives the
names of cgroups: it runs kubelet's own code and runc's library.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from kubernetes.client import ApiClient, CoreV1Api, V1DeleteOptions
from kubernetes.client.exceptions import ApiException

from ansible_collections.volcano.colocation.tests.agent import processes
from ansible_collections.volcano.colocation.tests.agent.machines import CONTROLLERS, Machine
from ansible_collections.volcano.colocation.tests.judges.cgroup_program import run_program
from ansible_collections.volcano.colocation.tests.lab.cluster import container_process
from ansible_collections.volcano.colocation.tests.lab.cluster.components import HOST
from ansible_collections.volcano.colocation.tests.lab.cluster.container_process import Manifest, Place, Service
from ansible_collections.volcano.colocation.tests.lab.ports import free_ports

AGENT = "volcano-agent"
PORT_FLAG = "--healthz-port="
PERIOD = 0.5
"""Seconds between two looks at the API server."""
CGROUP_PERIOD = 100_000


@dataclass
class Running:
    """A pod with its cgroups; ``process`` and ``port`` are those of an agent. ``ready``: what was reported."""

    pod: Manifest
    cgroups: tuple[str, ...]
    process: subprocess.Popen[bytes] | None = None
    port: int = 0
    declared: int = 0
    ready: bool | None = None


@dataclass
class Kubelet:
    """Keeps the pods of all machines.

    ``programs`` are the agent's by the image's tag; ``mark`` has the variable by which the lab finds its processes.
    """

    client: ApiClient
    machines: Mapping[str, Machine]
    programs: Mapping[str, Path]
    judge: Path
    service: Callable[[], Service]
    directory: Path
    mark: Mapping[str, str]
    pods: dict[str, Running] = field(default_factory=dict)
    errors: list[BaseException] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._core = CoreV1Api(self.client)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Kubelet:
        self._thread.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._ended.set()
        self._thread.join()
        for running in self.pods.values():
            _end(running)

    def agent_on(self, node: str) -> Running | None:
        """The agent that runs on a Node."""
        running = [one for one in list(self.pods.values()) if one.process and _node(one.pod) == node]
        return running[0] if running else None

    def log(self, node: str) -> str:
        """The output of all agents of a Node."""
        path = self.directory / f"{node}.log"
        return path.read_text(errors="replace") if path.exists() else "no agent was started"

    def _run(self) -> None:
        while not self._ended.wait(PERIOD):
            try:
                self._look()
            except (OSError, ApiException, urllib.error.URLError):
                continue  # the API server does not answer, or another client changed the pod: look again
            except BaseException as error:
                self.errors.append(error)
                raise

    def _look(self) -> None:
        response = self._core.list_pod_for_all_namespaces(_preload_content=False)
        pods = {
            pod["metadata"]["uid"]: pod for pod in json.loads(response.data)["items"] if _node(pod) in self.machines
        }
        for uid in [uid for uid in self.pods if uid not in pods]:
            self._forget(uid)
        for uid, pod in pods.items():
            if pod["metadata"].get("deletionTimestamp"):
                self._forget(uid)
                self._delete(pod)
                continue
            if uid not in self.pods:
                self.pods[uid] = self._admit(pod)
            self._report(pod, self.pods[uid])

    def _admit(self, pod: Manifest) -> Running:
        machine = self.machines[_node(pod)]
        cgroups = self._cgroups(machine, pod)
        for cgroup in cgroups:
            machine.make_cgroup(cgroup)
        limit_cpu(machine, pod, cgroups)
        running = Running(pod, cgroups)
        for container in pod["spec"]["containers"]:
            if container["name"] == AGENT:
                self._start(machine, running, container)
        return running

    def _cgroups(self, machine: Machine, pod: Manifest) -> tuple[str, ...]:
        """The pod's cgroup, and those of its containers."""
        shared = {
            "Root": "/",
            "Driver": machine.driver,
            "Qos": pod["status"]["qosClass"].lower(),
            "UID": pod["metadata"]["uid"],
            "Prefix": "cri-containerd",
            "Folder": "",
        }
        identities = [identity(pod, container) for container in pod["spec"]["containers"]]
        named = run_program(self.judge, [{**shared, "ID": one} for one in identities])
        if machine.version == "v1":
            named = [response["V1"]["cpu"] for response in named]
        return (named[0]["Pod"], *(response["Container"] for response in named))

    def _start(self, machine: Machine, running: Running, container: Manifest) -> None:
        (running.port,) = free_ports(1)
        declared = next(word for word in container["args"] if word.startswith(PORT_FLAG))
        running.declared = int(declared.removeprefix(PORT_FLAG))
        arguments = [f"{PORT_FLAG}{running.port}" if word == declared else word for word in container["args"]]
        place = Place(machine.root, self.directory / f"{machine.name}.root", self.directory / f"{machine.name}.log")
        program = self.programs[container["image"].rpartition(":")[2]]
        # The agent asks for the type of the file system, which is that of plain files here.
        version = {"VOLCANO_TEST_CGROUP_VERSION": "v2"} if machine.version == "v2" else {}
        running.process = container_process.start(
            running.pod, {**container, "args": arguments}, program, place, self.service(), **version, **self.mark
        )

    def _report(self, pod: Manifest, running: Running) -> None:
        ready = running.process is None or _healthy(pod, running)
        if ready == running.ready:
            return
        if ready and running.process:
            processes.show(self.machines[_node(pod)].root, running.process.pid, running.cgroups[1])
        status = pod_status(pod, ready)
        metadata = pod["metadata"]
        self._core.patch_namespaced_pod_status(metadata["name"], metadata["namespace"], {"status": status})
        running.ready = ready

    def _forget(self, uid: str) -> None:
        running = self.pods.pop(uid, None)
        if running is None:
            return
        _end(running)
        machine = self.machines[_node(running.pod)]
        if running.process:
            processes.forget(machine.root, running.process.pid)
        for hierarchy in CONTROLLERS[machine.version]:
            shutil.rmtree(machine.directory(running.cgroups[0], hierarchy))

    def _delete(self, pod: Manifest) -> None:
        metadata = pod["metadata"]
        with suppress(ApiException):
            options = V1DeleteOptions(grace_period_seconds=0, preconditions={"uid": metadata["uid"]})
            self._core.delete_namespaced_pod(metadata["name"], metadata["namespace"], body=options)


def identity(pod: Manifest, container: Manifest) -> str:
    """The id that the runtime gives to a container."""
    return hashlib.sha256(f"{pod['metadata']['uid']} {container['name']}".encode()).hexdigest()


def limit_cpu(machine: Machine, pod: Manifest, cgroups: tuple[str, ...]) -> None:
    """Write the quota of CPU limits as kubelet and the runtime do; a pod is limited if all its containers are."""
    limits = [container.get("resources", {}).get("limits", {}).get("cpu") for container in pod["spec"]["containers"]]
    quotas = [limit and milli(limit) * CGROUP_PERIOD // 1000 for limit in limits]
    whole = sum(quotas) if all(quotas) else None
    for cgroup, quota in zip(cgroups, (whole, *quotas), strict=True):
        if quota and machine.version == "v2":
            (machine.directory(cgroup) / "cpu.max").write_text(f"{quota} {CGROUP_PERIOD}\n")
        elif quota:
            (machine.directory(cgroup, "cpu,cpuacct") / "cpu.cfs_quota_us").write_text(f"{quota}\n")


def milli(quantity: str) -> int:
    """Thousandths of a CPU."""
    return int(quantity[:-1]) if quantity.endswith("m") else int(quantity) * 1000


def pod_status(pod: Manifest, ready: bool) -> dict[str, Any]:
    """The status of a pod whose containers run."""
    now, truth = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "True" if ready else "False"
    states = {"Initialized": "True", "ContainersReady": truth, "Ready": truth, "PodScheduled": "True"}
    containers = [
        {
            "name": container["name"],
            "image": container["image"],
            "imageID": "",
            "containerID": f"containerd://{identity(pod, container)}",
            "ready": ready,
            "started": True,
            "restartCount": 0,
            "state": {"running": {"startedAt": now}},
        }
        for container in pod["spec"]["containers"]
    ]
    conditions = [{"type": kind, "status": value, "lastTransitionTime": now} for kind, value in states.items()]
    return {"phase": "Running", "startTime": now, "conditions": conditions, "containerStatuses": containers}


def _healthy(pod: Manifest, running: Running) -> bool:
    """The readiness probe of the agent's container."""
    container = next(one for one in pod["spec"]["containers"] if one["name"] == AGENT)
    probe = container["readinessProbe"]["httpGet"]
    port = running.port if probe["port"] == running.declared else probe["port"]
    try:
        with urllib.request.urlopen(f"http://{HOST}:{port}{probe['path']}", timeout=2) as response:
            return response.status == 200
    except OSError:
        return False


def _end(running: Running) -> None:
    if running.process:
        with suppress(ProcessLookupError):
            os.killpg(running.process.pid, signal.SIGKILL)
        running.process.wait()


def _node(pod: Manifest) -> str:
    return str(pod["spec"].get("nodeName") or "")
