# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cluster of the scenario, with Molecule's inventory and the profile of each node in it."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.tests.system.cluster import Cluster


@pytest.fixture(scope="session", name="cluster")
def _cluster(tmp_path_factory: pytest.TempPathFactory) -> Cluster:
    return Cluster.of_scenario("cluster-v1", "cluster-v2", tmp_path_factory.mktemp("cluster"))
