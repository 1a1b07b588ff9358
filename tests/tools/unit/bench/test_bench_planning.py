# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The benchmark of planning plans the nodes that it names."""

from __future__ import annotations

import os

from ansible_collections.volcano.colocation.tests.bench.planning_cost import planning_costs


def test_each_case_plans_what_it_is_called_after() -> None:
    costs = {cost.case: cost for cost in planning_costs(os.environ, processes=1)}
    assert costs["aligned"].changes == 0
    assert costs["text edited"].changes > 1
    assert all(cost.first_ms > 0 < cost.again_ms for cost in costs.values())
