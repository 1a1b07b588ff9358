# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Full plans of captured nodes, and facts from which nothing can be planned."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.settings.option_values import Capacity, parse_value
from ansible_collections.volcano.colocation.plugins.module_utils.settings.registry import knob
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.validators import ProfileError
from ansible_collections.volcano.colocation.plugins.plugin_utils.settings.node_support import parse_node
from ansible_collections.volcano.colocation.plugins.plugin_utils.settings.task_plan import qos_plan_result
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import NAMES as CAPTURED
from ansible_collections.volcano.colocation.tests.support.hosts.described_hosts import NAMES as DESCRIBED
from ansible_collections.volcano.colocation.tests.support.hosts.qos_cases import (
    OPENEULER,
    V1,
    V2,
    document,
    feature,
    plan,
    setting,
)


def test_the_plan_of_a_captured_node_of_v2_is_the_expected_one() -> None:
    result = qos_plan_result(plan(V2))
    assert {key: result[key] for key in ("cgroups", "slices", "reserved_slices", "levels", "kubelet")} == {
        "cgroups": [
            {"target": {"qos_class": "guaranteed"}, "settings": {"memory_low": "50%", "memory_min": None}},
            {"target": {"qos_class": "burstable"}, "settings": {"memory_low": "50%", "memory_min": None}},
            {
                "target": {"qos_class": "besteffort"},
                "settings": {"cpu_quota": 0.9, "memory_high": "80%", "memory_max": None, "pids_max": 32768},
            },
        ],
        "slices": [{"name": "system.slice", "state": "present", "properties": {"CPUWeight": 20}}],
        "reserved_slices": [],
        "levels": {"LC": {}, "HLS": {}, "LS": {}, "BE": {"cpu_idle": True}},
        "kubelet": {
            "cgroup_driver": "systemd",
            "cgroup_root": "/",
            "root_dir": "/var/lib/kubelet",
            "version": "1.20",
        },
    }
    assert [(entry["level"], entry["setting"]) for entry in result["unsupported"]] == [
        ("HLS", "no CPU quota"),
        ("HLS", "cpu.qos_level 2"),
        ("LS", "cpu.qos_level 1"),
        ("LS", "cpu_burst"),
        ("BE", "cpu.qos_level -1"),
        ("BE", "memory.qos_level -1"),
        ("BE", "cpu_idle"),
    ]


def test_the_plan_of_a_described_node_of_openeuler_is_the_expected_one() -> None:
    result = qos_plan_result(plan(OPENEULER))
    assert result["cgroups"] == [
        {
            "target": {"qos_class": "besteffort"},
            "settings": {"cpu_quota": 2.4, "memory_high": "80%", "memory_max": None, "pids_max": 32768},
        }
    ]
    assert result["slices"] == [{"name": "system.slice", "state": "absent"}]
    assert [(entry["level"], entry["setting"]) for entry in result["unsupported"]] == [
        ("HLS", "pinned CPUs"),
        ("HLS", "cpu.qos_level 2"),
        ("LS", "memory_low"),
        ("LS", "cpu.qos_level 1"),
        ("LS", "cpu_burst"),
        ("system", "CPUWeight of system.slice"),
    ]


@pytest.mark.parametrize("name", [*CAPTURED, *DESCRIBED])
def test_every_node_has_a_plan_with_a_reason_for_each_thing_it_lacks(name: str) -> None:
    tasks = plan(name)
    assert tasks.unsupported
    assert all(entry.setting and entry.reason and not entry.reason.endswith(".") for entry in tasks.unsupported)
    assert len(set(tasks.unsupported)) == len(tasks.unsupported)


@pytest.mark.parametrize("name", [V1, V2, OPENEULER])
def test_every_value_is_one_that_its_knob_takes(name: str) -> None:
    capacity = Capacity(cpus=2, memory=4 << 30)
    changes = [feature("cpu_bvt", True)] if name != OPENEULER else []
    tasks = plan(name, *changes, be={"cpu_idle": True, "memory_max": "3Gi"}, ls={"cpu_burst": "20000"})
    settings = [*(task.settings for task in tasks.cgroups), *tasks.levels.values()]
    values = [(key, value) for knobs in settings for key, value in knobs.items() if value is not None]
    assert values
    for key, value in values:
        parse_value(knob(key), value, capacity)


def test_cgroups_that_are_not_known_get_nothing() -> None:
    tasks = plan("cgroups-not-mounted")
    assert (tasks.cgroups, tasks.slices, tasks.reserved) == ((), (), ())
    assert [(entry.level, entry.setting) for entry in tasks.unsupported] == [("system", "all settings")]


def test_a_reservation_that_kubelet_would_not_read_plans_nothing() -> None:
    tasks = plan(V2, setting("systemReserved", {"cpu": "half"}))
    assert (tasks.cgroups, tasks.slices) == ((), ())
    assert "systemReserved.cpu" in tasks.unsupported[0].reason


@pytest.mark.parametrize(
    "broken",
    [{}, {"schema": 1}, document(V2, ("cgroup", "mode", "v3")), document(V2, ("kubelet", "settings", "cgroupRoot", 1))],
    ids=["empty", "schema only", "unknown mode", "wrong setting"],
)
def test_a_document_without_facts_is_refused(broken: dict[str, Any]) -> None:
    with pytest.raises(ProfileError, match=r"facts: .* pass ansible_facts.colocation"):
        parse_node(broken)


def test_the_gate_in_kubelets_configuration_is_passed_on() -> None:
    assert plan(V2, setting("featureGates", {"MemoryQoS": "false"})).kubelet["memory_qos"] is False
