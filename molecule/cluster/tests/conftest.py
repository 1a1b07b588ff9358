# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cluster of the scenario, with Molecule's inventory and the profile of each node in it."""

from __future__ import annotations

import json
import os

import pytest

from ansible_collections.volcano.colocation.tests.system.cluster import Cluster
from ansible_collections.volcano.colocation.tests.system.node import Node, lab


@pytest.fixture(scope="session", name="cluster")
def _cluster(tmp_path_factory: pytest.TempPathFactory) -> Cluster:
    directory = tmp_path_factory.mktemp("cluster")
    inventory = os.environ["MOLECULE_INVENTORY_FILE"]
    kubeconfig = json.loads(lab("cluster", "up", "--json"))["kubeconfig"]
    first, second = (Node(name, inventory, directory) for name in ("cluster-v1", "cluster-v2"))
    return Cluster(first, second, inventory, kubeconfig, directory)
