# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""An image that is wrong, and the removal of the agent. The last tests of the scenario."""

from __future__ import annotations

from typing import Any

from ansible_collections.volcano.colocation.tests.system import agent
from ansible_collections.volcano.colocation.tests.system.agent import LABELLED, batch_cpu, deploy, images, labels
from ansible_collections.volcano.colocation.tests.system.cluster import Cluster
from ansible_collections.volcano.colocation.tests.system.workload import kubectl


def test_an_agent_that_may_not_write_is_reported(cluster: Cluster) -> None:
    """An image of the same name lacks the file capability. Its agent is Ready, and offers batch-cpu."""
    variables = agent.settings(cluster.second, cluster.directory / "without-capability.tar", capabilities=b"")
    run = deploy(cluster, variables)
    assert run.code != 0
    for node in (cluster.first, cluster.second):
        assert f"{node.name}: the agent runs as user 1000 without the capability DAC_OVERRIDE" in run.output
        assert batch_cpu(node.name) > 0


def test_the_removal_leaves_nothing(cluster: Cluster, settings: dict[str, Any]) -> None:
    run = deploy(cluster, settings, colocation_agent_state="absent")
    assert run.code == 0, run.output
    assert not kubectl("get", "daemonset,configmap,pod", "-n", "volcano-system", "-l", LABELLED, "-o", "name")
    for node in (cluster.first, cluster.second):
        assert (images(node), labels(node.name), batch_cpu(node.name)) == ([], {}, 0)
