# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings that conflict, and changes that the kernel refuses."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.settings import change_plan, explicit_settings
from ansible_collections.volcano.colocation.plugins.module_utils.settings.registry import knob


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"cpu_idle": True, "cpu_weight": 100}, "an idle cgroup has no weight"),
        (
            {"cpu_burst": 60000, "cpu_quota": 500000},
            "cpu_burst is 60000 microseconds and the quota of a period is 50000",
        ),
        ({"cpu_burst": 30000, "cpu_quota": 500000, "cpu_period": 50000}, "the quota of a period is 25000"),
        ({"cpu_burst": 1, "cpu_quota": None}, "cpu_quota is max"),
        ({"memory_max": 8192, "memory_min": 12288}, "memory_min is more than memory_max (12288, 8192 bytes)"),
        ({"memory_max": 8192, "memory_low": 12288}, "memory_low is more than memory_max"),
        ({"memory_max": 8192, "memory_high": 12288}, "memory_high is more than memory_max"),
    ],
)
def test_a_conflict_is_named(values: Any, reason: str) -> None:
    assert reason in explicit_settings.find_conflict(values)


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"cpu_idle": False, "cpu_weight": 100},
        {"cpu_idle": True},
        {"cpu_burst": 50000, "cpu_quota": 500000},
        {"cpu_burst": 0, "cpu_quota": None},
        {"cpu_burst": 50000},
        {"memory_max": 8192, "memory_high": None, "memory_low": 8192, "memory_min": 4096},
        {"memory_max": None, "memory_high": 12288},
        {"memory_high": 4096, "memory_low": 8192},
    ],
)
def test_values_without_a_conflict(values: Any) -> None:
    assert explicit_settings.find_conflict(values) == ""


def test_the_current_period_is_used() -> None:
    assert explicit_settings.find_conflict({"cpu_burst": 60000, "cpu_quota": 500000}, period=200000) == ""


def test_all_conflicts_are_in_one_message() -> None:
    reason = explicit_settings.find_conflict(
        {"cpu_idle": True, "cpu_weight": 1, "memory_max": 4096, "memory_high": 8192}
    )
    assert "cpu_weight" in reason
    assert "memory_high" in reason


@pytest.mark.parametrize(("before", "after"), [(-1, 0), (-2, -1), (-1, 2)])
def test_an_offline_cgroup_stays_offline(before: int, after: int) -> None:
    reason = change_plan.find_forbidden_change(knob("cpu_qos_level"), before, after)
    assert "EINVAL" in reason
    assert "%d after %d" % (after, before) in reason


@pytest.mark.parametrize(("before", "after"), [(0, -1), (-1, -1), (-1, -2), (0, 2), (None, 0)])
def test_other_changes_of_the_level_are_allowed(before: Any, after: int) -> None:
    assert change_plan.find_forbidden_change(knob("cpu_qos_level"), before, after) == ""


def test_changes_of_other_knobs_are_allowed() -> None:
    assert change_plan.find_forbidden_change(knob("cpu_bvt_warp_ns"), -1, 2) == ""
    assert change_plan.find_forbidden_change(knob("memory_qos_level"), -1, 0) == ""
