# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan computes everything once, however many rules read it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.assessment.node_plan import make_plan
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan import (
    containerd_changes,
    desired_state,
    draft,
    kubeadm_patch,
    kubelet_changes,
)
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    DIFFERING,
    captured,
    desired,
    facts_of,
)

COUNTED = (
    (containerd_changes, "read_layers"),
    (draft, "layers_after"),
    (draft, "node_after"),
    (desired_state, "choose_location"),
    (desired_state, "config_layers"),
    (desired_state, "merge_layers"),
    (kubelet_changes, "kubelet_changes"),
    (kubeadm_patch, "patch_changes"),
    (draft, "runtime_changes"),
)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """The number of calls of each function, by its name."""
    result: Counter[str] = Counter()

    def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            result[name] += 1
            return function(*args)

        return call

    for module, name in COUNTED:
        monkeypatch.setattr(module, name, counted(name, getattr(module, name)))
    return result


@pytest.mark.parametrize("name", [ALIGNED, DIFFERING])
def test_planning_a_node_calls_each_planner_at_most_once(name: str, calls: Counter[str]) -> None:
    facts = facts_of(captured(name))
    calls.clear()

    plan = make_plan(facts, desired(), allow_disruption=True)

    assert bool(plan.changes) is (name == DIFFERING)
    assert not {name: times for name, times in calls.items() if times > 1}
    assert calls["runtime_changes"] == calls["kubelet_changes"] == 1
    assert calls["read_layers"] == (1 if plan.changes else 0)
