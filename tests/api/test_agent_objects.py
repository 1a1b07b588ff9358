# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects that agent_deploy creates, changes and deletes on a real API server, for Nodes without a kubelet."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.owned_objects import (
    BATCH_CPU,
    BATCH_MEMORY,
    EVICTING_TAINT,
    REPORTED_ANNOTATIONS,
)
from ansible_collections.volcano.colocation.tests.api.agent_hosts import KINDS, deploy
from ansible_collections.volcano.colocation.tests.api.apiserver import ApiServer, node
from ansible_collections.volcano.colocation.tests.system.node import Run, ansible_process

SPACE = "volcano-system"
DRIVERS = ["cgroupfs", "systemd"]
OBJECTS = "daemonsets,configmaps,serviceaccounts,clusterroles,clusterrolebindings,nodes"


@pytest.fixture(scope="module", name="server")
def _server(api_server: Callable[[str], ApiServer]) -> Iterator[ApiServer]:
    server = api_server("agent")
    server.create([node(name) for name in KINDS])
    server.kubectl("create", "namespace", SPACE)
    yield server
    server.kubectl("delete", "nodes", *KINDS)
    server.kubectl("delete", "namespace", SPACE, "--wait=false")


def state(server: ApiServer) -> dict[str, Any]:
    """Labels, taints and all objects in volcano-system, without the fields that the API server sets."""
    objects = {}
    for item in server.items(OBJECTS, "--all-namespaces"):
        metadata = item["metadata"]
        labels = {key: value for key, value in metadata.get("labels", {}).items() if "kubernetes.io" not in key}
        content = {key: item[key] for key in ("data", "rules", "subjects") if key in item}
        spec = (
            {"taints": [t for t in item["spec"].get("taints", []) if "volcano" in t["key"]]}
            if item["kind"] == "Node"
            else {}
        )
        if item["kind"] != "Node" and metadata.get("namespace") not in (SPACE, None):
            continue
        annotations = [key for key in metadata.get("annotations", {}) if "volcano" in key]
        objects[f"{item['kind']} {metadata['name']}"] = (labels, annotations, content, spec)
    return objects


def configured_drivers(server: ApiServer) -> list[str]:
    """The driver in the configuration of each pool's agent."""
    daemon_sets = server.items("daemonsets", "-n", SPACE)
    agents = [one for daemon_set in daemon_sets for one in daemon_set["spec"]["template"]["spec"]["containers"]]
    return [one["value"] for agent in agents for one in agent["env"] if one["name"] == "CGROUP_DRIVER"]


def publish(server: ApiServer, name: str) -> None:
    """Write to a Node what an agent writes: the taint, its annotations, and its resources."""
    node = server.get("node", name)
    assert node
    taints = [*node["spec"].get("taints", []), {"key": EVICTING_TAINT, "effect": "NoSchedule"}]
    patch = {"metadata": {"annotations": dict.fromkeys(REPORTED_ANNOTATIONS, "900")}, "spec": {"taints": taints}}
    server.kubectl("patch", "node", name, "--type=merge", "-p", json.dumps(patch))
    offered = {"cpu": "4", BATCH_CPU: "900", BATCH_MEMORY: "1024"}
    status = {"status": {"capacity": offered, "allocatable": offered}}
    server.kubectl("patch", "node", name, "--subresource=status", "--type=merge", "-p", json.dumps(status))


def amounts(server: ApiServer, name: str) -> list[dict[str, str]]:
    """Capacity and allocatable resources of a Node."""
    node = server.get("node", name)
    assert node
    status = node["status"]
    return [status.get("capacity", {}), status.get("allocatable", {})]


def changed(run: Run) -> bool:
    assert run.code == 0, run.output
    return run.recap("a")["changed"] > 0


def test_objects_and_labels_are_created_once_and_deleted_again(server: ApiServer) -> None:
    """Runs for the objects are processes of ansible-playbook."""
    run = partial(deploy, server, runner=ansible_process)
    before = state(server)
    assert changed(run("--check", "--diff"))
    assert state(server) == before

    assert changed(run("--diff"))
    installed = state(server)
    assert sorted(configured_drivers(server)) == DRIVERS
    assert not changed(run())

    assert changed(deploy(server, "--check", step="labels"))
    assert state(server) == installed
    assert changed(deploy(server, step="labels"))
    labelled = state(server)
    assert labelled["Node a"][0].items() > installed["Node a"][0].items()
    assert not changed(deploy(server, step="labels"))

    publish(server, "a")
    assert changed(deploy(server, step="labels", state="absent"))
    remaining = state(server)
    _labels, annotations, _content, spec = remaining["Node a"]
    assert {*REPORTED_ANNOTATIONS} <= {*annotations}
    assert [taint["key"] for taint in spec["taints"]] == [EVICTING_TAINT]
    assert [{*resources} for resources in amounts(server, "a")] == [{"cpu", BATCH_CPU, BATCH_MEMORY}] * 2
    assert changed(run("--check", state="absent"))
    assert state(server) == remaining
    assert changed(run(state="absent"))
    assert state(server) == before
    assert amounts(server, "a") == [{"cpu": "4"}, {"cpu": "4"}]
    assert not changed(run(state="absent"))
