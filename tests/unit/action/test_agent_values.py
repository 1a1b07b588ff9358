# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values for upstream's chart are rendered as often as somebody likes, and the run ends with them."""

from __future__ import annotations

from pathlib import Path

import yaml

from ansible_collections.volcano.colocation.tests.unit.action.agent_role import Played, play
from ansible_collections.volcano.colocation.tests.unit.action.agent_server import AgentServer, serving

WRITE = "Write values for upstream's chart"


def chart() -> AgentServer:
    """A cluster in which the chart was installed."""
    server = AgentServer()
    info = {"machineID": "machine-n1", "bootID": "boot-n1", "kubeletVersion": "v1.30.1"}
    server.add("nodes", {"kind": "Node", "metadata": {"name": "n1", "labels": {}}, "status": {"nodeInfo": info}})
    pod = {"containers": [{"name": "volcano-agent", "image": "docker.io/volcanosh/vc-agent:v1.14.0"}]}
    template = {"metadata": {"labels": {"name": "volcano-agent"}}, "spec": pod}
    metadata = {"name": "volcano-agent", "namespace": "volcano-system"}
    server.add("daemonsets", {"kind": "DaemonSet", "metadata": metadata, "spec": {"template": template}})
    return server


def test_with_the_charts_own_agent_there_the_values_are_rendered_again(tmp_path: Path) -> None:
    server = chart()
    values = tmp_path / "values.yaml"

    def run(entry: str = "present", *, check: bool = False, **given: object) -> Played:
        return play(tmp_path, entry, check=check, colocation_kubeconfig=str(path), **given)

    with serving(server, tmp_path) as path:
        asked = {"colocation_agent_values_file": str(values), "colocation_agent_port": 3300}
        shown = run(check=True, **asked)
        assert (shown.code, shown.changed, values.exists()) == (0, [WRITE], False), shown.output
        first = run(**asked)
        assert (first.code, first.changed) == (0, [WRITE]), first.output
        assert yaml.safe_load(values.read_text())["custom"]["colocation_enable"] is True
        again = run(**asked)
        assert (again.code, again.changed) == (0, []), again.output
        other = run(**{**asked, "colocation_agent_features": ["Eviction"]})
        assert (other.code, other.changed) == (0, [WRITE]), other.output
        assert yaml.safe_load(values.read_text())["custom"]["agent_supported_features"] == "Eviction"
        assert (server.log, server.reviewed) == ([], [])

        own = run(colocation_agent_label=False)
        assert own.code != 0
        assert (
            "Another agent is meant for the same nodes: DaemonSet volcano-system/volcano-agent (vc-agent)" in own.output
        )
        assert server.log == []

        proof = run("verify", **asked)
        assert proof.code != 0
        assert "colocation_agent_values_file leaves the agent to upstream's chart" in proof.output
