# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One cluster for all tests, with eight Nodes: two releases of the agent on each kind of node."""

from __future__ import annotations

import base64
import contextlib
import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from kubernetes import config

from ansible_collections.volcano.colocation.tests.agent import workloads
from ansible_collections.volcano.colocation.tests.agent.broken_agents import break_agents
from ansible_collections.volcano.colocation.tests.agent.field import (
    MACHINES,
    NODES,
    ONLINE,
    RELEASES,
    SYSTEM_MEMORY,
    Field,
    memory_of_pods,
    nodes_of,
    variables_of,
)
from ansible_collections.volcano.colocation.tests.agent.kubelet import Kubelet
from ansible_collections.volcano.colocation.tests.agent.machines import Clock, Machine
from ansible_collections.volcano.colocation.tests.agent.workloads import Workload
from ansible_collections.volcano.colocation.tests.api.apiserver import ApiServer
from ansible_collections.volcano.colocation.tests.judges import cgroup_program
from ansible_collections.volcano.colocation.tests.lab import programs
from ansible_collections.volcano.colocation.tests.lab.cache import Cache
from ansible_collections.volcano.colocation.tests.lab.cluster import container_process, control_plane, daemons, volcano
from ansible_collections.volcano.colocation.tests.lab.cluster.store import ControlPlane
from ansible_collections.volcano.colocation.tests.lab.cluster.volcano import NAMESPACE, Volcano, fake_node
from ansible_collections.volcano.colocation.tests.lab.paths import cache_root
from ansible_collections.volcano.colocation.tests.system.node import Run
from ansible_collections.volcano.colocation.tests.volcano.cluster import Cluster, eventually
from ansible_collections.volcano.colocation.tests.volcano.objects import namespace

ACCOUNT = "volcano-colocation-agent"
ORDER = ("test_capacity.py", "test_pods.py", "test_load.py", "test_verify.py", "test_removal.py")
"""The Nodes of a file have what earlier ones did to them."""
NODE_INFO = (
    "architecture",
    "containerRuntimeVersion",
    "kernelVersion",
    "kubeProxyVersion",
    "kubeletVersion",
    "operatingSystem",
    "osImage",
    "systemUUID",
)
"""Required fields, which KWOK sets."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: ORDER.index(item.path.name))


@pytest.fixture(scope="session", name="field")
def _field(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Field]:
    container_process.require_root()
    control_plane.down()
    cache = Cache(cache_root())
    with contextlib.ExitStack() as stack:
        stack.callback(control_plane.down)
        plane = control_plane.up()
        server = ApiServer(
            tuple(control_plane.kubectl_argv(plane)), str(plane.kubeconfig), tmp_path_factory.mktemp("runs")
        )
        cluster = Cluster(server, Volcano(plane, volcano.obtain(cache)))
        machines = {name: Machine(tmp_path_factory.mktemp(name), name, *kind[1:]) for name, kind in MACHINES.items()}
        cluster.volcano.start_kwok(pods=False)
        cluster.volcano.create_nodes([_node(machine) for machine in machines.values()])
        cluster.create(namespace(workloads.SPACE))
        eventually(lambda: cluster.items("ServiceAccount", workloads.SPACE))
        stack.enter_context(Clock(machines))
        kubelet = stack.enter_context(
            Kubelet(
                client=config.new_client_from_config(str(plane.kubeconfig)),
                machines=machines,
                programs=_programs(cache, plane.directory),
                judge=cgroup_program.obtain(cache),
                service=lambda: _service(plane),
                directory=tmp_path_factory.mktemp("agents"),
                mark={daemons.MARK: plane.uuid},
            )
        )
        yield Field(cluster, machines, kubelet)
        assert not kubelet.errors


def _node(machine: Machine) -> dict[str, Any]:
    """A Node with what its kubelet reports of the machine."""
    node = fake_node(machine.name)
    info = {**dict.fromkeys(NODE_INFO, ""), "machineID": machine.machine_id, "bootID": machine.boot_id}
    return {**node, "status": {**node["status"], "nodeInfo": info}}


def _programs(cache: Cache, directory: Path) -> dict[str, Path]:
    """The agent's program of each release by the image's tag, with the file capability of upstream's image."""
    copies = {}
    for release in RELEASES.values():
        family = f"volcano-{release.rpartition('.')[0]}"
        copy = directory / f"vc-agent-{release}"
        shutil.copyfile(programs.obtain(cache, family, ("vc-agent",)).path("vc-agent"), copy)
        copy.chmod(0o755)
        container_process.give_capability(copy)
        copies[f"v{release}"] = copy
    return copies


def _service(plane: ControlPlane) -> container_process.Service:
    """What kubelet mounts for the agent's ServiceAccount."""
    token = control_plane.kubectl(plane, "create", "token", ACCOUNT, "-n", NAMESPACE, "--duration=4h").strip()
    view = json.loads(control_plane.kubectl(plane, "config", "view", "--raw", "--flatten", "-o", "json"))
    ca = base64.b64decode(view["clusters"][0]["cluster"]["certificate-authority-data"]).decode()
    return container_process.Service(plane.ports.api, {"token": token, "ca.crt": ca, "namespace": NAMESPACE})


@dataclass(frozen=True)
class Deployed:
    """The role's run for the new release, and the modules' results for the old one."""

    run: Run
    objects: dict[str, Any]
    labels: dict[str, Any]


@pytest.fixture(scope="session", name="deployed")
def _deployed(field: Field) -> Deployed:
    """Agents of both releases: the old ones by modules, the new ones by the role. Then another client breaks two."""
    for name, machine in field.machines.items():
        machine.use_memory(memory_of_pods(name), SYSTEM_MEMORY)
        machine.load(ONLINE)
    options = {key.removeprefix("colocation_agent_"): value for key, value in variables_of("old").items()}
    del options["timeout"]
    objects = field.module("agent_deploy", nodes_of("old"), **options)
    run = field.role("new")
    assert run.code == 0, run.output + "".join(field.log(name) for name in nodes_of("new"))
    # The old agents have started by now: a starting one resets a label that it has not read yet.
    labels = field.module("agent_deploy", nodes_of("old"), **options, step="labels")
    break_agents(field)
    return Deployed(run, objects, labels)


@pytest.fixture(scope="session", name="settings_before_pods")
def _settings_before_pods(field: Field, deployed: Deployed) -> Mapping[str, Mapping[str, str]]:
    """The files of all cgroups by Node and path, before test pods exist."""
    return {name: workloads.settings_of(field, name) for name in NODES}


@pytest.fixture(scope="session", name="offline_pods")
def _offline_pods(field: Field, settings_before_pods: object) -> Mapping[str, Workload]:
    """An offline pod on each Node, once it has capacity for it."""
    field.cluster.create(*(workloads.offline(f"offline-{name}", name) for name in NODES))
    return {name: workloads.running(field, name, f"offline-{name}") for name in NODES}


@pytest.fixture(scope="session", name="online_pods")
def _online_pods(field: Field, settings_before_pods: object) -> Mapping[str, Workload]:
    """An online pod on each Node."""
    field.cluster.create(*(workloads.online(f"online-{name}", name) for name in NODES))
    return {name: workloads.running(field, name, f"online-{name}") for name in NODES}
