# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Removal of the agent after its labels: objects are deleted even if the agents do not clean up, which is reported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.colocation_config import (
    AgentJournal,
    render_journal,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.manifests import render_daemon_set
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.owned_objects import (
    COLOCATION_LABEL,
    EVICTING_TAINT,
    POOL_LABEL,
)
from ansible_collections.volcano.colocation.tests.support.clusters import agent_clusters
from ansible_collections.volcano.colocation.tests.support.clusters.agent_api_server import AgentServer
from ansible_collections.volcano.colocation.tests.support.clusters.drain_api_server import serving
from ansible_collections.volcano.colocation.tests.unit.action.agent_role import Played, Step, play

SPACE = "volcano-system"
CHOSEN = agent_clusters.options()
POOLED = agent_clusters.pools([agent_clusters.host("n1", agent_clusters.V1)], CHOSEN)[0]
REPORTED = {"kubernetes.io/batch-cpu": "900"}


def working() -> AgentServer:
    """A cluster in which the agent works on n1, and reports batch CPU."""
    server = AgentServer()
    info = {"machineID": "machine-n1", "bootID": "boot-n1", "kubeletVersion": "v1.30.1"}
    status = {"nodeInfo": info, "capacity": REPORTED, "allocatable": REPORTED}
    labels = {POOL_LABEL: POOLED.name, COLOCATION_LABEL: "true"}
    server.add("nodes", {"kind": "Node", "metadata": {"name": "n1", "labels": labels}, "status": status})
    server.add("configmaps", render_journal(AgentJournal(labels={"n1": {COLOCATION_LABEL: None}}), SPACE))
    daemon_set: dict[str, Any] = agent_clusters.served(render_daemon_set(POOLED, CHOSEN))
    daemon_set["status"] = {"observedGeneration": 1, "desiredNumberScheduled": 1, "updatedNumberScheduled": 1}
    server.add("daemonsets", daemon_set)
    template = daemon_set["spec"]["template"]
    metadata = {**template["metadata"], "name": "a", "namespace": SPACE}
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    server.add("pods", {"metadata": metadata, "spec": {**template["spec"], "nodeName": "n1"}, "status": ready})
    return server


def absent(directory: Path, server: AgentServer) -> Played:
    (directory / "image").mkdir(exist_ok=True)
    with serving(server, directory) as path:
        return play(
            directory,
            Step("back", "absent"),
            colocation_agent_state="absent",
            colocation_agent_label_nodes=True,
            colocation_agent_timeout=10,
            colocation_kubeconfig=str(path),
            agent_switches_root=str(directory / "image"),
        )


@pytest.mark.parametrize(
    ("pods", "message"),
    [
        ((500, {"message": "etcdserver: leader changed"}), "cleaned up: Could not list pods in volcano-system with "),
        (None, "After 10 s agents still offered resources on n1."),
    ],
)
def test_agents_with_an_unknown_state_or_without_cleanup_do_not_prevent_the_removal(
    pods: tuple[int, dict[str, Any]] | None, message: str, tmp_path: Path
) -> None:
    server = working()
    if pods:
        server.says["list pods"] = pods
    switches = tmp_path / "image/etc/sysctl.d/90-volcano-colocation-agent.conf"
    switches.parent.mkdir(parents=True)
    switches.write_text("vm.memcg_qos_enable = 1\n", encoding="utf-8")
    done = absent(tmp_path, server)
    assert not done.failed("back"), done.output
    assert message in done.output
    assert ". Their values on the Nodes are removed now." in done.output
    assert server.get("daemonsets", f"volcano-agent-{POOLED.name}", SPACE) is None
    assert server.get("configmaps", "volcano-colocation-agent", SPACE) is None
    assert not switches.exists()
    node = server.get("nodes", "n1")
    assert node
    assert (node["metadata"]["labels"], node["status"]["capacity"], node["status"]["allocatable"]) == ({}, {}, {})


def test_what_agents_write_while_they_end_is_removed_too(tmp_path: Path) -> None:
    """An agent under load: its taint is there when the plan is made, and comes back with other values."""
    server = working()
    before = server.get("nodes", "n1")
    assert before
    taint = {"key": EVICTING_TAINT, "effect": "NoSchedule"}
    foreign = {"key": "maintenance", "effect": "NoSchedule"}
    server.add("nodes", {**before, "spec": {"taints": [taint]}})

    def write(verb: str, key: tuple[str, str, str]) -> None:
        if (verb, key[0]) == ("delete", "daemonsets"):
            node = {**(server.get("nodes", "n1") or {}), "spec": {"taints": [foreign, taint]}}
            amounts = {**REPORTED, "kubernetes.io/batch-memory": "1Gi"}
            annotated = {**node["metadata"], "annotations": {EVICTING_TAINT: "true", "kept": "here"}}
            server.add(
                "nodes",
                {**node, "metadata": annotated, "status": {**node["status"], "capacity": amounts}},
            )

    server.react = write
    done = absent(tmp_path, server)
    assert not done.failed("back"), done.output
    node = server.get("nodes", "n1")
    assert node
    assert node["spec"]["taints"] == [foreign]
    assert node["metadata"]["annotations"] == {"kept": "here"}
    assert (node["status"]["capacity"], node["status"]["allocatable"]) == ({}, {})
