# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""agent_deploy on an API server that does not let it: all that is missing is said at once, before the first change."""

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
    """hostvars of a play with one host that was looked at."""

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


def deploy(kubeconfig: str, *, check: bool = False, **given: Any) -> dict[str, Any]:
    task = Task()
    task.action, task.check_mode = "volcano.colocation.agent_deploy", check
    task.args = {"kubeconfig": kubeconfig, "nodes": ["n1"], "label_nodes": True, **given}
    loader = DataLoader()
    connection = connection_loader.get("local", PlayContext(), os.devnull)
    one = ActionModule(task, connection, PlayContext(), loader, Templar(loader=loader, variables={}), None)
    one._load_name = "agent_deploy"
    result: dict[str, Any] = one.run(task_vars={"inventory_hostname": "n1", "hostvars": Hosts(), "groups": {}})
    return result


def refused(result: dict[str, Any], kubeconfig: str) -> str:
    """What is missing."""
    head, tail = f"The user of {kubeconfig} may not ", f". {ALL_DONE}"
    told = str(result["msg"])
    assert result["failed"], told
    assert told.startswith(head), told
    assert told.endswith(tail), told
    return told.removeprefix(head).removesuffix(tail)


def test_who_may_all_is_asked_and_served(server: AgentServer, kubeconfig: str) -> None:
    assert deploy(kubeconfig)["changed"]
    assert {"create daemonsets", "patch nodes", "list pods"} <= set(server.reviewed)
    assert "create pods" not in server.reviewed
    written = len(server.log)
    assert not deploy(kubeconfig)["changed"]
    assert len(server.log) == written


def test_all_verbs_of_the_plan_the_labels_and_the_proof_that_are_missing_are_named(
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


def test_all_that_cannot_be_read_is_named(server: AgentServer, kubeconfig: str) -> None:
    server.denied = {"list nodes", "get configmaps", "get clusterroles"}
    assert refused(deploy(kubeconfig), kubeconfig) == (
        f"list nodes; get configmaps in {SPACE}; get clusterroles.rbac.authorization.k8s.io volcano-colocation-agent"
    )


def test_the_way_back_is_asked_for_as_well(server: AgentServer, kubeconfig: str) -> None:
    assert not deploy(kubeconfig).get("failed")
    assert not deploy(kubeconfig, step="labels").get("failed")
    written = len(server.log)
    server.denied = {"delete daemonsets", "delete configmaps", "list pods"}
    told = refused(deploy(kubeconfig, state="absent"), kubeconfig)
    ((_resource, _space, agent),) = (each for each in server.objects if each[0] == "daemonsets")
    assert told == f"delete daemonsets.apps {agent} in {SPACE}; delete configmaps in {SPACE}; list pods in {SPACE}"
    assert len(server.log) == written


WORDS = {
    "create daemonsets": 'pods "volcano-agent-" is forbidden: violates PodSecurity "restricted": host namespaces',
    "create clusterroles": 'user "u" is attempting to grant RBAC permissions not currently held',
    "create serviceaccounts": f"unable to create new content in namespace {SPACE} because it is being terminated",
}


@pytest.mark.parametrize("what", WORDS)
def test_what_admission_refuses_is_said_in_the_servers_words(what: str, server: AgentServer, kubeconfig: str) -> None:
    server.says = {what: (403, {"message": WORDS[what]})}
    told = deploy(kubeconfig)["msg"]
    assert f", or an admission controller refuses it: {WORDS[what]}. " in told
    assert "or check which admission controller refuses it; " in told


def test_what_cannot_be_read_is_named(server: AgentServer, kubeconfig: str) -> None:
    server.says = {"list daemonsets": (403, {"message": "no"})}
    told = deploy(kubeconfig, check=True)["msg"]
    assert "may not list daemonsets.apps: no. Nothing was changed. Grant the verb; docs/agent.md lists all" in told
