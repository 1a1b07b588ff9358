# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One cluster for all tests, with eight Nodes: two releases of the agent on each kind of node."""

from __future__ import annotations

import base64
import contextlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes import config

from ansible_collections.volcano.colocation.tests.agent.field import NODES, RELEASES, Field
from ansible_collections.volcano.colocation.tests.agent.kubelet import Kubelet
from ansible_collections.volcano.colocation.tests.agent.machines import Clock, Machine
from ansible_collections.volcano.colocation.tests.api.apiserver import ApiServer
from ansible_collections.volcano.colocation.tests.judges import cgroup_program
from ansible_collections.volcano.colocation.tests.lab import programs
from ansible_collections.volcano.colocation.tests.lab.cache import Cache
from ansible_collections.volcano.colocation.tests.lab.cluster import container_process, control_plane, daemons, volcano
from ansible_collections.volcano.colocation.tests.lab.cluster.store import ControlPlane
from ansible_collections.volcano.colocation.tests.lab.cluster.volcano import NAMESPACE, Volcano, fake_node
from ansible_collections.volcano.colocation.tests.lab.paths import cache_root
from ansible_collections.volcano.colocation.tests.volcano.cluster import Cluster

ACCOUNT = "volcano-colocation-agent"
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
        machines = {name: Machine(tmp_path_factory.mktemp(name), name, *kind[1:]) for name, kind in NODES.items()}
        cluster.volcano.start_kwok(pods=False)
        cluster.volcano.create_nodes([_node(machine) for machine in machines.values()])
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
    found = {}
    for release in RELEASES.values():
        family = f"volcano-{release.rpartition('.')[0]}"
        copy = directory / f"vc-agent-{release}"
        shutil.copyfile(programs.obtain(cache, family, ("vc-agent",)).path("vc-agent"), copy)
        copy.chmod(0o755)
        container_process.give_capability(copy)
        found[f"v{release}"] = copy
    return found


def _service(plane: ControlPlane) -> container_process.Service:
    """What kubelet mounts for the agent's ServiceAccount."""
    token = control_plane.kubectl(plane, "create", "token", ACCOUNT, "-n", NAMESPACE, "--duration=4h").strip()
    view = json.loads(control_plane.kubectl(plane, "config", "view", "--raw", "--flatten", "-o", "json"))
    ca = base64.b64decode(view["clusters"][0]["cluster"]["certificate-authority-data"]).decode()
    return container_process.Service(plane.ports.api, {"token": token, "ca.crt": ca, "namespace": NAMESPACE})
