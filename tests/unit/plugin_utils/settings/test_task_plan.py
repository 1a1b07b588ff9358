# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole plans of captured nodes, and facts from which nothing can be planned."""

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
    found = qos_plan_result(plan(V2))
    assert {key: found[key] for key in ("cgroups", "slices", "reserved_slices", "levels", "kubelet")} == {
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
    assert [(each["level"], each["setting"]) for each in found["unsupported"]] == [
        ("HLS", "no CPU quota"),
        ("HLS", "cpu.qos_level 2"),
        ("LS", "cpu.qos_level 1"),
        ("LS", "cpu_burst"),
        ("BE", "cpu.qos_level -1"),
        ("BE", "memory.qos_level -1"),
        ("BE", "cpu_idle"),
    ]


def test_the_plan_of_a_described_node_of_openeuler_is_the_expected_one() -> None:
    found = qos_plan_result(plan(OPENEULER))
    assert found["cgroups"] == [
        {
            "target": {"qos_class": "besteffort"},
            "settings": {"cpu_quota": 2.4, "memory_high": "80%", "memory_max": None, "pids_max": 32768},
        }
    ]
    assert found["slices"] == [{"name": "system.slice", "state": "absent"}]
    assert [(each["level"], each["setting"]) for each in found["unsupported"]] == [
        ("HLS", "pinned CPUs"),
        ("HLS", "cpu.qos_level 2"),
        ("LS", "memory_low"),
        ("LS", "cpu.qos_level 1"),
        ("LS", "cpu_burst"),
        ("system", "CPUWeight of system.slice"),
    ]


@pytest.mark.parametrize("name", [*CAPTURED, *DESCRIBED])
def test_every_node_has_a_plan_with_a_reason_for_each_thing_it_lacks(name: str) -> None:
    found = plan(name)
    assert found.unsupported
    assert all(each.setting and each.reason and not each.reason.endswith(".") for each in found.unsupported)
    assert len(set(found.unsupported)) == len(found.unsupported)


@pytest.mark.parametrize("name", [V1, V2, OPENEULER])
def test_every_value_is_one_that_its_knob_takes(name: str) -> None:
    capacity = Capacity(cpus=2, memory=4 << 30)
    changes = [feature("cpu_bvt", True)] if name != OPENEULER else []
    found = plan(name, *changes, be={"cpu_idle": True, "memory_max": "3Gi"}, ls={"cpu_burst": "20000"})
    given = [*(task.settings for task in found.cgroups), *found.levels.values()]
    values = [(key, value) for each in given for key, value in each.items() if value is not None]
    assert values
    for key, value in values:
        parse_value(knob(key), value, capacity)


def test_cgroups_that_are_not_known_get_nothing() -> None:
    found = plan("cgroups-not-mounted")
    assert (found.cgroups, found.slices, found.reserved) == ((), (), ())
    assert [(each.level, each.setting) for each in found.unsupported] == [("system", "all settings")]


def test_a_reservation_that_kubelet_would_not_read_plans_nothing() -> None:
    found = plan(V2, setting("systemReserved", {"cpu": "half"}))
    assert (found.cgroups, found.slices) == ((), ())
    assert "systemReserved.cpu" in found.unsupported[0].reason


@pytest.mark.parametrize(
    "broken",
    [{}, {"schema": 1}, document(V2, ("cgroup", "mode", "v3")), document(V2, ("kubelet", "settings", "cgroupRoot", 1))],
    ids=["empty", "schema only", "unknown mode", "wrong setting"],
)
def test_what_is_no_facts_document_is_refused(broken: dict[str, Any]) -> None:
    with pytest.raises(ProfileError, match=r"facts: .* give ansible_facts.colocation"):
        parse_node(broken)


def test_the_gate_that_somebody_set_is_handed_on() -> None:
    assert plan(V2, setting("featureGates", {"MemoryQoS": "false"})).kubelet["memory_qos"] is False
