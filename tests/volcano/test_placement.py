# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which Node a pod gets, with the weights of `binpack` that the role sets."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ansible_collections.volcano.colocation.tests.support.clusters.scheduler_confs import UPSTREAM
from ansible_collections.volcano.colocation.tests.volcano.cluster import Cluster, eventually
from ansible_collections.volcano.colocation.tests.volcano.objects import names, nodes_of
from ansible_collections.volcano.colocation.tests.volcano.space import Space

HOSTNAME = "kubernetes.io/hostname"


def score(weights: dict[str, int], used: dict[str, float], asked: dict[str, float]) -> float:
    """binpack's formula: the weighted mean of what is used with the pod, as parts of the Node."""
    return sum(weights[name] * (used[name] + asked[name]) for name in weights) / sum(weights.values())


@pytest.mark.parametrize("weights", [{"cpu": 10, "memory": 1}, {"cpu": 1, "memory": 10}])
def test_binpack_fills_the_node_that_its_formula_says(
    cluster: Cluster, space: Callable[..., Space], weights: dict[str, int]
) -> None:
    """One Node has its CPUs in use, the other one its memory."""
    cluster.configure(UPSTREAM, colocation_scheduler_binpack={"weight": 100, **weights})
    own = space(cpus=10, nodes=2, memory="10Gi")
    busy, full = names(cluster.items("Node", selector=f"colocation-test/pool={own.name}"))
    own.pod("cpus", cpu="6", requests={"memory": "1Gi"}, nodeSelector={HOSTNAME: busy})
    own.pod("memory", cpu="1", requests={"memory": "6Gi"}, nodeSelector={HOSTNAME: full})
    eventually(lambda: len(cluster.running(own.name)) == 2)
    used = {busy: {"cpu": 0.6, "memory": 0.1}, full: {"cpu": 0.1, "memory": 0.6}}
    scores = {name: score(weights, amounts, {"cpu": 0.1, "memory": 0.1}) for name, amounts in used.items()}
    own.job("packed", 2, requests={"memory": "1Gi"})
    assert nodes_of(own.runs("packed", 2)) == [max(scores, key=lambda name: scores[name])] * 2
