# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""agent_smoke_test with an API server in memory: a pod is created once, read when it is Ready, and deleted."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.playbook.play_context import PlayContext
from ansible.playbook.task import Task
from ansible.plugins.loader import connection_loader
from ansible.template import Templar

from ansible_collections.volcano.colocation.plugins.action import agent_smoke_test
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.manifests import render_daemon_set
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.owned_objects import (
    APP_LABEL,
    COLOCATION_LABEL,
    POOL_LABEL,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.api_errors import ErrorContext
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.dynamic_client import Client
from ansible_collections.volcano.colocation.tests.support.clusters import agent_clusters
from ansible_collections.volcano.colocation.tests.support.clusters.memory_api_server import Server

CHOSEN = agent_clusters.options()
POOLED = agent_clusters.pools([agent_clusters.host("n1")], CHOSEN)[0]
SPACE = "volcano-system"
NAME = f"volcano-agent-probe-{POOLED.name}"


def agent() -> dict[str, Any]:
    template = render_daemon_set(POOLED, CHOSEN)["spec"]["template"]
    metadata = {**template["metadata"], "name": "a", "namespace": SPACE}
    spec = {**template["spec"], "nodeName": "n1"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def cluster(name: str = "n1", boot: str = "boot-n1", machine: str = "machine-n1") -> Server:
    """A Node with an agent's pod."""
    info = {"machineID": machine, "bootID": boot, "kubeletVersion": "v1.30.1"}
    allocatable = {"kubernetes.io/batch-cpu": "900"}
    metadata = {"name": name, "labels": {POOL_LABEL: POOLED.name, COLOCATION_LABEL: "true"}}
    status = {"nodeInfo": info, "allocatable": allocatable}
    server = Server()
    server.add({"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": status}, agent())
    return server


def pods(server: Server) -> list[dict[str, Any]]:
    return [item for (kind, _space, _name), item in server.objects.items() if kind == "Pod"]


def start(server: Server) -> None:
    """Set the pod's status, as kubelet does when it starts the pod."""
    pod = server.get("Pod", NAME, SPACE)
    assert pod
    pod["metadata"]["uid"] = "5d0e"
    pod["status"] = {
        "conditions": [{"type": "Ready", "status": "True"}],
        "containerStatuses": [{"name": "x", "containerID": "containerd://" + "c" * 64}],
    }


class Hosts:
    """hostvars of a play with one host that has results."""

    @staticmethod
    def raw_get(name: str) -> dict[str, Any]:
        probe = {**agent_clusters.probe(name), "machine_id_sha256": agent_clusters.sha256(f"machine-{name}")}
        facts = agent_clusters.facts(agent_clusters.V2)
        return {"ansible_facts": {"colocation": facts}, "agent_host_info": {"host": probe}}


@pytest.fixture(name="kubeconfig")
def _kubeconfig(tmp_path: Path) -> str:
    path = tmp_path / "admin.conf"
    path.write_text("apiVersion: v1\n", encoding="utf-8")
    return str(path)


def run(server: Server, kubeconfig: str, **options: Any) -> dict[str, Any]:
    class InProcess(agent_smoke_test.ActionModule):
        def connect(self, context: ErrorContext) -> Client:
            return server.client(context)

    task = Task()
    task.action = "volcano.colocation.agent_smoke_test"
    task.args = {"kubeconfig": kubeconfig, "nodes": ["n1"], **options}
    loader = DataLoader()
    connection = connection_loader.get("local", PlayContext(), os.devnull)
    one = InProcess(task, connection, PlayContext(), loader, Templar(loader=loader, variables={}), None)
    one._load_name = "agent_smoke_test"
    result: dict[str, Any] = one.run(task_vars={"inventory_hostname": "n1", "hostvars": Hosts()})
    return result


def test_a_pod_is_created_read_and_deleted(kubeconfig: str) -> None:
    server = cluster()
    made = run(server, kubeconfig)
    assert made["changes"] == [f"create Pod volcano-system/{NAME}"]
    assert [test["reason"] for test in made["tests"]] == ["the pod does not exist yet"]
    waiting = run(server, kubeconfig)
    assert (waiting["changed"], waiting["tests"][0]["ready"]) == (False, False)
    start(server)
    (ready,) = run(server, kubeconfig)["tests"]
    assert (ready["ready"], ready["host"], ready["options"]["uid"]) == (True, "n1", "5d0e")
    assert run(server, kubeconfig, state="absent")["changes"] == [f"delete Pod volcano-system/{NAME}"]
    assert [pod["metadata"]["labels"][APP_LABEL] for pod in pods(server)] == ["volcano-agent"]
    assert not run(server, kubeconfig, state="absent")["changed"]


def test_no_pod_is_created_without_permission_to_delete_it(kubeconfig: str) -> None:
    server = cluster()
    server.denied = ("delete pods",)
    result = run(server, kubeconfig)
    assert result["failed"]
    assert "may not delete pods in volcano-system. Nothing was changed." in result["msg"]
    assert len(pods(server)) == 1


def test_another_cluster_gets_no_pod(kubeconfig: str) -> None:
    server = cluster("other", "b", "m")
    for state in ("present", "absent"):
        assert run(server, kubeconfig, state=state)["failed"]
    assert len(pods(server)) == 1
