# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""agent_deploy without permissions: one error lists all missing permissions, before the first change."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.playbook.play_context import PlayContext
from ansible.playbook.task import Task
from ansible.plugins.loader import connection_loader
from ansible.template import Templar

from ansible_collections.volcano.colocation.plugins.action.agent_deploy import ActionModule
from ansible_collections.volcano.colocation.tests.support.clusters import agent_clusters
from ansible_collections.volcano.colocation.tests.support.clusters.agent_api_server import AgentServer
from ansible_collections.volcano.colocation.tests.support.clusters.drain_api_server import serving

SPACE = "volcano-system"
ALL_DONE = "Nothing was changed. Grant it; docs/agent.md lists all verbs."


class Hosts:
    """hostvars of a play with one host that has results."""

    @staticmethod
    def raw_get(name: str) -> dict[str, Any]:
        probe = {"agent_host_info": {"host": agent_clusters.probe(name)}}
        return {"ansible_facts": {"colocation": agent_clusters.facts(agent_clusters.V2)}, **probe}


@pytest.fixture(name="server")
def _server() -> AgentServer:
    server = AgentServer()
    info = {"machineID": "machine-n1", "bootID": "boot-n1", "kubeletVersion": "v1.30.1"}
    server.add("nodes", {"kind": "Node", "metadata": {"name": "n1", "labels": {}}, "status": {"nodeInfo": info}})
    return server


@pytest.fixture(name="kubeconfig")
def _kubeconfig(server: AgentServer, tmp_path: Path) -> Iterator[str]:
    with serving(server, tmp_path) as path:
        yield str(path)


def deploy(kubeconfig: str, *, check: bool = False, **options: Any) -> dict[str, Any]:
    task = Task()
    task.action, task.check_mode = "volcano.colocation.agent_deploy", check
    task.args = {"kubeconfig": kubeconfig, "nodes": ["n1"], "label_nodes": True, **options}
    loader = DataLoader()
    connection = connection_loader.get("local", PlayContext(), os.devnull)
    one = ActionModule(task, connection, PlayContext(), loader, Templar(loader=loader, variables={}), None)
    one._load_name = "agent_deploy"
    result: dict[str, Any] = one.run(task_vars={"inventory_hostname": "n1", "hostvars": Hosts(), "groups": {}})
    return result


def refused(result: dict[str, Any], kubeconfig: str) -> str:
    """The missing permissions in the error message."""
    head, tail = f"The user of {kubeconfig} may not ", f". {ALL_DONE}"
    message = str(result["msg"])
    assert result["failed"], message
    assert message.startswith(head), message
    assert message.endswith(tail), message
    return message.removeprefix(head).removesuffix(tail)


def test_permissions_are_checked_before_a_deployment(server: AgentServer, kubeconfig: str) -> None:
    assert deploy(kubeconfig)["changed"]
    assert {"create daemonsets", "patch nodes", "list pods"} <= set(server.reviewed)
    assert "create pods" not in server.reviewed
    written = len(server.log)
    assert not deploy(kubeconfig)["changed"]
    assert len(server.log) == written


def test_missing_permissions_of_the_plan_the_labels_and_the_proof_are_named(
    server: AgentServer, kubeconfig: str
) -> None:
    server.denied = {"create daemonsets", "patch nodes", "create pods", "list pods", "delete pods"}
    assert refused(deploy(kubeconfig, smoke_test=True), kubeconfig) == (
        f"patch nodes n1; create daemonsets.apps in {SPACE}; list pods in {SPACE}; create pods in {SPACE};"
        f" delete pods in {SPACE}"
    )
    assert server.log == []
    server.denied = {"create daemonsets", "list pods"}
    assert refused(deploy(kubeconfig, check=True), kubeconfig) == (
        f"create daemonsets.apps in {SPACE}; list pods in {SPACE}"
    )


def test_all_missing_permissions_to_read_are_named(server: AgentServer, kubeconfig: str) -> None:
    server.denied = {"list nodes", "get configmaps", "get clusterroles"}
    assert refused(deploy(kubeconfig), kubeconfig) == (
        f"list nodes; get configmaps in {SPACE}; get clusterroles.rbac.authorization.k8s.io volcano-colocation-agent"
    )


def test_permissions_are_also_checked_before_a_removal(server: AgentServer, kubeconfig: str) -> None:
    assert not deploy(kubeconfig).get("failed")
    assert not deploy(kubeconfig, step="labels").get("failed")
    written = len(server.log)
    server.denied = {"delete daemonsets", "delete configmaps", "list pods"}
    missing = refused(deploy(kubeconfig, state="absent"), kubeconfig)
    ((_resource, _space, agent),) = (key for key in server.objects if key[0] == "daemonsets")
    assert missing == f"delete daemonsets.apps {agent} in {SPACE}; delete configmaps in {SPACE}; list pods in {SPACE}"
    assert len(server.log) == written


WORDS = {
    "create daemonsets": 'pods "volcano-agent-" is forbidden: violates PodSecurity "restricted": host namespaces',
    "create clusterroles": 'user "u" is attempting to grant RBAC permissions not currently held',
    "create serviceaccounts": f"unable to create new content in namespace {SPACE} because it is being terminated",
}


@pytest.mark.parametrize("what", WORDS)
def test_messages_of_admission_are_reported(what: str, server: AgentServer, kubeconfig: str) -> None:
    server.says = {what: (403, {"message": WORDS[what]})}
    message = deploy(kubeconfig)["msg"]
    assert f", or an admission controller refuses it: {WORDS[what]}. " in message
    assert "or check which admission controller refuses it; " in message


def test_a_refused_request_to_read_is_named(server: AgentServer, kubeconfig: str) -> None:
    server.says = {"list daemonsets": (403, {"message": "no"})}
    message = deploy(kubeconfig, check=True)["msg"]
    assert "may not list daemonsets.apps: no. Nothing was changed. Grant the verb; docs/agent.md lists all" in message
