# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Labels that an agent resets while it starts, which are set again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.owned_objects import (
    COLOCATION_LABEL,
    OVERSUBSCRIPTION_LABEL,
)
from ansible_collections.volcano.colocation.tests.support.clusters.agent_api_server import AgentServer
from ansible_collections.volcano.colocation.tests.support.clusters.drain_api_server import serving
from ansible_collections.volcano.colocation.tests.unit.action.agent_role import Played, play


@dataclass(frozen=True)
class Label:
    """The module agent_deploy with the step ``labels``."""

    kubeconfig: Path

    def task(self) -> dict[str, Any]:
        options = {
            "kubeconfig": str(self.kubeconfig),
            "nodes": ["n1"],
            "step": "labels",
            "label_nodes": True,
            "recheck_seconds": 1,
        }
        place = {"delegate_to": "localhost", "become": False, "ignore_errors": True}
        return {"name": "step label", "volcano.colocation.agent_deploy": options, **place}


def labelled(directory: Path, resets: int) -> tuple[Played, AgentServer]:
    """The labels of n1 are set, and an agent resets one of them as often as that."""
    server = AgentServer()
    info = {"machineID": "machine-n1", "bootID": "boot-n1", "kubeletVersion": "v1.30.1"}
    server.add("nodes", {"kind": "Node", "metadata": {"name": "n1"}, "status": {"nodeInfo": info}})
    server.add("namespaces", {"kind": "Namespace", "metadata": {"name": "volcano-system"}})
    remaining = [OVERSUBSCRIPTION_LABEL] * resets

    def reset(verb: str, key: tuple[str, str, str]) -> None:
        if (verb, key[0]) == ("patch", "nodes") and remaining:
            node = server.get("nodes", "n1") or {}
            labels = {**node["metadata"]["labels"], remaining.pop(): "false"}
            server.add("nodes", {**node, "metadata": {**node["metadata"], "labels": labels}})

    server.react = reset
    with serving(server, directory) as path:
        return play(directory, Label(path)), server


def test_a_label_that_a_starting_agent_resets_is_set_again(tmp_path: Path) -> None:
    done, server = labelled(tmp_path, 2)
    node = server.get("nodes", "n1")
    assert node
    assert node["metadata"]["labels"] == {COLOCATION_LABEL: "true", OVERSUBSCRIPTION_LABEL: "true"}, done.output
    assert not done.failed("label")
    assert "labels of Nodes were reset by an agent that was starting, and are set again" in done.output


def test_a_client_that_always_resets_labels_is_reported(tmp_path: Path) -> None:
    done, _server = labelled(tmp_path, 99)
    message = "Labels of the Nodes n1 were reset 6 times, 1 s after they were set. Find the client that resets them"
    assert message in done.failed("label")
