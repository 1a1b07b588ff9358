# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""agent_trial against an API server in memory: a pod is made once, read when it is Ready, and taken away."""

from __future__ import annotations

import copy
import os
from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.playbook.play_context import PlayContext
from ansible.playbook.task import Task
from ansible.plugins.loader import connection_loader
from ansible.template import Templar

from ansible_collections.volcano.colocation.plugins.action import agent_trial
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.daemon_set import daemon_set
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.names import APP_LABEL, COLOCATION, POOL
from ansible_collections.volcano.colocation.plugins.plugin_utils.controller.requests import LOOK, Requests
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.agent import agents

CHOSEN = agents.options()
POOLED = agents.pools([agents.host("n1")], CHOSEN)[0]
NAME = f"volcano-agent-probe-{POOLED.name}"


def agent() -> dict[str, Any]:
    template = daemon_set(POOLED, CHOSEN)["spec"]["template"]
    return {"metadata": {**template["metadata"], "name": "a"}, "spec": {**template["spec"], "nodeName": "n1"}}


class Api:
    """Nodes, DaemonSets and pods; of pods also what is written. Members of a list come without their kind."""

    def __init__(self) -> None:
        info = {"machineID": "machine-n1", "bootID": "boot-n1", "kubeletVersion": "v1.30.1"}
        allocatable = {"kubernetes.io/batch-cpu": "900"}
        metadata = {"name": "n1", "labels": {POOL: POOLED.name, COLOCATION: "true"}}
        self.nodes: list[dict[str, Any]] = [
            {"metadata": metadata, "status": {"nodeInfo": info, "allocatable": allocatable}}
        ]
        self.pods = [agent()]
        self.denied = ""

    def __call__(self, module: str, arguments: dict[str, Any]) -> dict[str, Any]:
        if module == LOOK:
            kinds = {"Node": self.nodes, "Pod": self.pods, "DaemonSet": []}
            found = [each for each in kinds[arguments["kind"]] if self._selected(each, arguments)]
            return {"api_found": True, "resources": copy.deepcopy(found)}
        body = arguments["definition"]
        if body["kind"] == "SelfSubjectAccessReview":
            return {"result": {"status": {"allowed": body["spec"]["resourceAttributes"]["verb"] != self.denied}}}
        assert (body["kind"], body["metadata"]["namespace"]) == ("Pod", "volcano-system")
        self.pods = [each for each in self.pods if each["metadata"]["name"] != body["metadata"]["name"]]
        if arguments["state"] == "present":
            self.pods.append({key: body[key] for key in ("metadata", "spec")})
        return {"result": {}}

    @staticmethod
    def _selected(found: dict[str, Any], arguments: dict[str, Any]) -> bool:
        wanted = [each.partition("=") for each in arguments.get("label_selectors", ())]
        labels = found["metadata"].get("labels") or {}
        return all(labels.get(key) == value for key, _equals, value in wanted)

    def starts(self) -> None:
        """kubelet starts the pod."""
        (pod,) = (each for each in self.pods if each["metadata"]["name"] == NAME)
        pod["metadata"]["uid"] = "5d0e"
        pod["status"] = {
            "conditions": [{"type": "Ready", "status": "True"}],
            "containerStatuses": [{"name": "x", "containerID": "containerd://" + "c" * 64}],
        }


class Hosts:
    """hostvars of a play with one host that was looked at."""

    @staticmethod
    def raw_get(name: str) -> dict[str, Any]:
        probe = {**agents.probe(name), "machine_id_sha256": agents.sha256(f"machine-{name}")}
        return {"ansible_facts": {"colocation": agents.facts(agents.V2)}, "agent_probed": {"probe": probe}}


@pytest.fixture(name="kubeconfig")
def _kubeconfig(tmp_path: Path) -> str:
    path = tmp_path / "admin.conf"
    path.write_text("apiVersion: v1\n", encoding="utf-8")
    return str(path)


def run(api: Api, kubeconfig: str, **given: Any) -> dict[str, Any]:
    class InProcess(agent_trial.ActionModule):
        def requests(self, _kubeconfig: str) -> Requests:
            return api

    task = Task()
    task.action = "volcano.colocation.agent_trial"
    task.args = {"kubeconfig": kubeconfig, "nodes": ["n1"], **given}
    loader = DataLoader()
    connection = connection_loader.get("local", PlayContext(), os.devnull)
    one = InProcess(task, connection, PlayContext(), loader, Templar(loader=loader, variables={}), None)
    one._load_name = "agent_trial"
    result: dict[str, Any] = one.run(task_vars={"inventory_hostname": "n1", "hostvars": Hosts()})
    return result


def test_a_pod_lives_as_long_as_it_is_read(kubeconfig: str) -> None:
    api = Api()
    made = run(api, kubeconfig)
    assert made["changes"] == [f"create Pod volcano-system/{NAME}"]
    assert [each["reason"] for each in made["trials"]] == ["the pod is not there yet"]
    waiting = run(api, kubeconfig)
    assert (waiting["changed"], waiting["trials"][0]["ready"]) == (False, False)
    api.starts()
    (ready,) = run(api, kubeconfig)["trials"]
    assert (ready["ready"], ready["host"], ready["read"]["uid"]) == (True, "n1", "5d0e")
    assert run(api, kubeconfig, state="absent")["changes"] == [f"delete Pod volcano-system/{NAME}"]
    assert [each["metadata"]["labels"][APP_LABEL] for each in api.pods] == ["volcano-agent"]
    assert not run(api, kubeconfig, state="absent")["changed"]


def test_no_pod_is_made_that_could_not_be_deleted(kubeconfig: str) -> None:
    api = Api()
    api.denied = "delete"
    result = run(api, kubeconfig)
    assert result["failed"]
    assert "may not delete pods in volcano-system. Nothing was changed." in result["msg"]
    assert len(api.pods) == 1


def test_another_cluster_gets_no_pod(kubeconfig: str) -> None:
    api = Api()
    api.nodes[0]["status"]["nodeInfo"] = {"machineID": "m", "bootID": "b", "kubeletVersion": "v1.30.1"}
    api.nodes[0]["metadata"]["name"] = "other"
    for state in ("present", "absent"):
        assert run(api, kubeconfig, state=state)["failed"]
    assert len(api.pods) == 1
