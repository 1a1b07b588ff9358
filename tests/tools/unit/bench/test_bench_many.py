# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Many recorded nodes: their snapshots, and the targets for their cost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.interpreter import interpret
from ansible_collections.volcano.colocation.plugins.plugin_utils.node.snapshot_files import (
    read_snapshot,
    recorded_snapshots,
)
from ansible_collections.volcano.colocation.tests.bench.cost import Cost
from ansible_collections.volcano.colocation.tests.bench.many import (
    CONTAINERS,
    PODS,
    ManyCost,
    ManyError,
    assess_many,
    growth,
    many_targets,
    write_snapshots,
)


def costs(*seconds: float, peak: float = 100.0) -> Sequence[ManyCost]:
    return [ManyCost(nodes, 0.1, Cost(wall, wall, peak)) for nodes, wall in zip((250, 500, 1000), seconds, strict=True)]


def test_the_snapshots_are_those_of_full_nodes(tmp_path: Path) -> None:
    assert write_snapshots(tmp_path / "many", 5) > 0
    snapshots = dict(recorded_snapshots(tmp_path / "many"))
    assert list(snapshots) == ["node0000", "node0001", "node0002", "node0003", "node0004"]
    facts = interpret(read_snapshot(snapshots["node0003"]))
    assert (facts.hostname, facts.pods.sandboxes, facts.pods.containers) == ("node3", PODS, CONTAINERS)
    assert facts.pods.systemd_paths == PODS + CONTAINERS


def test_growth_is_that_of_the_cost_by_that_of_the_nodes() -> None:
    assert growth(costs(10.0, 20.0, 40.0)) == pytest.approx(1.0)
    assert growth(costs(10.0, 20.0, 80.0)) == pytest.approx(2.0)
    assert growth(costs(12.0, 14.0, 18.0)) < 1.0


def test_time_memory_and_growth_are_reached_or_not() -> None:
    assert [target.reached for target in many_targets(costs(12.0, 14.0, 18.0))] == [True, True, True]
    assert [target.reached for target in many_targets(costs(20.0, 40.0, 100.0, peak=501.0))] == [False, False, False]


def test_too_few_nodes_are_refused() -> None:
    with pytest.raises(ManyError, match="too few"):
        assess_many(3, {})
