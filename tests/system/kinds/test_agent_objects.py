# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What agent_deploy makes, changes and takes away on a real API server, for Nodes that nobody runs. In this order."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.names import (
    BATCH_CPU,
    BATCH_MEMORY,
    REPORTED,
    TAINT,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.controller.rest import Rest
from ansible_collections.volcano.colocation.tests.system.kinds.apiserver import PYTHON, ApiServer, up
from ansible_collections.volcano.colocation.tests.system.node import Run, ansible, lab

SPACE = "volcano-system"
SNAPSHOTS = Path(__file__).parents[2] / "unit" / "fixtures" / "snapshots"
KINDS = {"a": "bookworm-v1-aligned", "b": "trixie-v2-cgroupfs-aligned"}
DRIVERS = ["cgroupfs", "systemd"]
CNI = "/etc/cni/net.d/cni.conflist"
WANTED: dict[str, Any] = {"image": "localhost/lab/agent:v1.14.0", "label": True}
OBJECTS = "daemonsets,configmaps,serviceaccounts,clusterroles,clusterrolebindings,nodes"


def host(name: str) -> dict[str, Any]:
    """Variables of a host that is a recorded node, with an identity of its own."""
    probe = {
        "hostname": name,
        "machine_id_sha256": hashlib.sha256(f"machine-{name}".encode()).hexdigest(),
        "boot_id": f"boot-{name}",
        "selinux": "off",
        "os": {"name": "Debian GNU/Linux", "version": "13 (trixie)"},
        "switches": [],
        "paths": {CNI: "missing"},
    }
    return {"agent_probed": {"probe": probe}, "snapshot": str(SNAPSHOTS / f"{KINDS[name]}.json")}


@pytest.fixture(scope="module", name="server")
def _server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    server = up(tmp_path_factory.mktemp("agent"))
    for name in KINDS:
        server.node(name)
    server.kubectl("create", "namespace", SPACE)
    yield server
    lab("cluster", "down")


def deploy(server: ApiServer, *arguments: str, step: str = "objects", **options: Any) -> Run:
    inventory = {
        "all": {"hosts": {name: host(name) for name in KINDS}, "vars": {"ansible_connection": "local", **PYTHON}}
    }
    (server.folder / "hosts.json").write_text(json.dumps(inventory))
    given = {**WANTED, "kubeconfig": server.kubeconfig, "nodes": list(KINDS), "step": step, **options}
    task = {"name": "Deploy", "volcano.colocation.agent_deploy": given, "delegate_to": "localhost", "run_once": True}
    look = {"name": "Look", "volcano.colocation.node_facts": {"snapshot": "{{ snapshot }}"}}
    play = [{"name": "Agent", "hosts": "all", "gather_facts": False, "tasks": [look, task]}]
    (server.folder / "agent.yml").write_text(json.dumps(play))
    return ansible("agent.yml", server.folder, "-i", "hosts.json", *arguments)


def state(server: ApiServer) -> dict[str, Any]:
    """Labels, taints and all that is in volcano-system, without what the API server counts itself."""
    said = server.kubectl("get", OBJECTS, "--all-namespaces", "-o", "json")
    kept = {}
    for each in json.loads(said)["items"]:
        about = each["metadata"]
        labels = {key: value for key, value in about.get("labels", {}).items() if "kubernetes.io" not in key}
        shown = {key: each[key] for key in ("data", "rules", "subjects") if key in each}
        spec = (
            {"taints": [t for t in each["spec"].get("taints", []) if "volcano" in t["key"]]}
            if each["kind"] == "Node"
            else {}
        )
        if each["kind"] != "Node" and about.get("namespace") not in (SPACE, None):
            continue
        annotations = [key for key in about.get("annotations", {}) if "volcano" in key]
        kept[f"{each['kind']} {about['name']}"] = (labels, annotations, shown, spec)
    return kept


def told_drivers(server: ApiServer) -> list[str]:
    """What each pool's agent is told of its driver."""
    found = json.loads(server.kubectl("get", "daemonsets", "-n", SPACE, "-o", "json"))["items"]
    agents = [one for each in found for one in each["spec"]["template"]["spec"]["containers"]]
    return [one["value"] for agent in agents for one in agent["env"] if one["name"] == "CGROUP_DRIVER"]


def worked(server: ApiServer, name: str) -> None:
    """Leave on a Node what an agent writes there: the taint, its annotations, and what it offers."""
    node = json.loads(server.kubectl("get", "node", name, "-o", "json"))
    taints = [*node["spec"].get("taints", []), {"key": TAINT, "effect": "NoSchedule"}]
    patch = {"metadata": {"annotations": dict.fromkeys(REPORTED, "900")}, "spec": {"taints": taints}}
    server.kubectl("patch", "node", name, "--type=merge", "-p", json.dumps(patch))
    offered = {"cpu": "4", BATCH_CPU: "900", BATCH_MEMORY: "1024"}
    # kubectl patches a subresource from 1.24 on.
    body = {"status": {"capacity": offered, "allocatable": offered}}
    answer = Rest(server.kubeconfig).request("PATCH", f"/api/v1/nodes/{name}/status", body=body)
    assert answer.good, answer.message


def amounts(server: ApiServer, name: str) -> list[dict[str, str]]:
    """What a Node has, and what pods can have of it."""
    status = json.loads(server.kubectl("get", "node", name, "-o", "json"))["status"]
    return [status.get("capacity", {}), status.get("allocatable", {})]


def changed(run: Run) -> bool:
    assert run.code == 0, run.output
    return run.recap("a")["changed"] > 0


def test_objects_and_labels_come_once_and_go_as_they_came(server: ApiServer) -> None:
    before = state(server)
    assert changed(deploy(server, "--check", "--diff"))
    assert state(server) == before

    assert changed(deploy(server, "--diff"))
    installed = state(server)
    assert sorted(told_drivers(server)) == DRIVERS
    assert not changed(deploy(server))

    assert changed(deploy(server, "--check", step="labels"))
    assert state(server) == installed
    assert changed(deploy(server, step="labels"))
    labelled = state(server)
    assert labelled["Node a"][0].items() > installed["Node a"][0].items()
    assert not changed(deploy(server, step="labels"))

    worked(server, "a")
    assert changed(deploy(server, step="labels", state="absent"))
    left = state(server)
    _labels, annotations, _shown, spec = left["Node a"]
    assert {*REPORTED} <= {*annotations}
    assert [each["key"] for each in spec["taints"]] == [TAINT]
    assert [{*each} for each in amounts(server, "a")] == [{"cpu", BATCH_CPU, BATCH_MEMORY}] * 2
    assert changed(deploy(server, "--check", state="absent"))
    assert state(server) == left
    assert changed(deploy(server, state="absent"))
    assert state(server) == before
    assert amounts(server, "a") == [{"cpu": "4"}, {"cpu": "4"}]
    assert not changed(deploy(server, state="absent"))
