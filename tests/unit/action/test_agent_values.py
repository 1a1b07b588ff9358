# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values for upstream's chart are rendered again in each run, which makes no other change."""

from __future__ import annotations

from pathlib import Path

import yaml

from ansible_collections.volcano.colocation.tests.support.clusters.agent_api_server import AgentServer
from ansible_collections.volcano.colocation.tests.support.clusters.drain_api_server import serving
from ansible_collections.volcano.colocation.tests.unit.action.agent_role import Look, Step, play

WRITE = "Write values for upstream's chart"


def chart() -> AgentServer:
    """A cluster with upstream's chart."""
    server = AgentServer()
    info = {"machineID": "machine-n1", "bootID": "boot-n1", "kubeletVersion": "v1.30.1"}
    server.add("nodes", {"kind": "Node", "metadata": {"name": "n1", "labels": {}}, "status": {"nodeInfo": info}})
    pod = {"containers": [{"name": "volcano-agent", "image": "docker.io/volcanosh/vc-agent:v1.14.0"}]}
    template = {"metadata": {"labels": {"name": "volcano-agent"}}, "spec": pod}
    metadata = {"name": "volcano-agent", "namespace": "volcano-system"}
    server.add("daemonsets", {"kind": "DaemonSet", "metadata": metadata, "spec": {"template": template}})
    return server


def test_values_are_rendered_again_beside_the_charts_own_agent(tmp_path: Path) -> None:
    server = chart()
    values = tmp_path / "values.yaml"
    variables = {"colocation_agent_values_file": str(values), "colocation_kubeconfig": "/nowhere.conf"}
    fewer = {**variables, "colocation_agent_features": ["Eviction"]}
    with serving(server, tmp_path) as path:
        done = play(
            tmp_path,
            Step("shown", "present", variables, check=True),
            Look("then", values),
            Step("first", "present", variables),
            Step("again", "present", variables),
            Step("fewer", "present", fewer),
            Step("proof", "verify", variables),
            Step("own", "present", {"colocation_agent_label_nodes": False, "colocation_kubeconfig": str(path)}),
        )
    assert (done.changed("shown"), "gone" in done.output_of("then")) == ([WRITE], True)
    assert (done.changed("first"), done.changed("again"), done.changed("fewer")) == ([WRITE], [], [WRITE])
    assert yaml.safe_load(values.read_text())["custom"]["agent_supported_features"] == "Eviction"
    assert "colocation_agent_values_file is for agents of upstream's chart" in done.failed("proof")
    other = "Another agent is deployed to the same nodes: DaemonSet volcano-system/volcano-agent (vc-agent)"
    assert other in done.failed("own")
    assert server.log == []
