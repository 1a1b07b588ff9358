# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cluster of the scenario, with Molecule's inventory, and the variables of the agent."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.system import agent
from ansible_collections.volcano.colocation.tests.system.cluster import Cluster


@pytest.fixture(scope="session", name="cluster")
def _cluster(tmp_path_factory: pytest.TempPathFactory) -> Cluster:
    return Cluster.of_scenario("agent-v1", "agent-v2", tmp_path_factory.mktemp("agent"))


@pytest.fixture(scope="session", name="settings")
def _settings(cluster: Cluster) -> dict[str, Any]:
    """Variables of the role agent."""
    return agent.settings(cluster.second, cluster.directory / "vc-agent.tar")
