# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Defaults of kubelet's fields by version, and the gates that rules know."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.cgroup.kubelet_names import (
    Driver,
    KubeletTree,
    cgroup_path,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.field_schema import (
    FieldImpact,
    FieldType,
    KubeletField,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.kubelet_fields import (
    CGROUP_DRIVER,
    FAIL_CGROUP_V1,
    FIELDS,
    MEMORY_MANAGER_POLICY,
    MEMORY_THROTTLING_FACTOR,
    OBSERVED,
    SINGLE_PROCESS_OOM_KILL,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.releases.kubelet_features import (
    DRIVER_FROM_CRI,
    gate_problems,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.releases.versions import Version


@pytest.mark.parametrize(
    ("field", "version", "default"),
    [
        (CGROUP_DRIVER, (1, 20), "cgroupfs"),
        (CGROUP_DRIVER, None, "cgroupfs"),
        (MEMORY_MANAGER_POLICY, (1, 20), None),
        (MEMORY_MANAGER_POLICY, (1, 21), "None"),
        (MEMORY_THROTTLING_FACTOR, (1, 21), None),
        (MEMORY_THROTTLING_FACTOR, (1, 22), "0.8"),
        (MEMORY_THROTTLING_FACTOR, (1, 26), "0.8"),
        (MEMORY_THROTTLING_FACTOR, (1, 27), "0.9"),
        (MEMORY_THROTTLING_FACTOR, None, None),
        (FAIL_CGROUP_V1, (1, 30), None),
        (FAIL_CGROUP_V1, (1, 31), "false"),
        (FAIL_CGROUP_V1, (1, 34), "false"),
        (FAIL_CGROUP_V1, (1, 35), "true"),
        (FAIL_CGROUP_V1, (1, 37), "true"),
        (FAIL_CGROUP_V1, None, None),
        (SINGLE_PROCESS_OOM_KILL, (1, 35), None),
    ],
)
def test_the_default_of_a_field_that_is_not_set(
    field: KubeletField, version: Version | None, default: str | None
) -> None:
    assert field.default_in(version) == default


def test_every_managed_field_is_observed_and_documented() -> None:
    assert len({field.key for field in OBSERVED}) == len(OBSERVED)
    assert {field for field in OBSERVED if field.option} == set(FIELDS)
    assert len({field.option for field in FIELDS}) == len(FIELDS)
    assert [field.option for field in FIELDS if not field.description or not field.source] == []


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.key)
def test_the_documentation_says_what_a_value_is(field: KubeletField) -> None:
    assert bool(field.choices) + bool(field.unit) == (field.type is not FieldType.SWITCH)


def test_entries_of_a_field_can_have_an_impact_of_their_own() -> None:
    gates, reserved = BY_KEY["featureGates"], BY_KEY["systemReserved"]
    assert gates.impact_of((DRIVER_FROM_CRI,)) is FieldImpact.DRAIN
    assert gates.impact_of(("MemoryQoS",)) is gates.impact_of() is FieldImpact.RESTART
    assert reserved.impact_of(("memory",)) is FieldImpact.DRAIN_UNDER_STATIC_MEMORY
    assert reserved.impact_of(("--system-reserved", "KUBELET_EXTRA_ARGS")) is FieldImpact.RESTART
    assert reserved.impacts == {
        FieldImpact.RESTART,
        FieldImpact.DRAIN_UNDER_STATIC_CPU,
        FieldImpact.DRAIN_UNDER_STATIC_MEMORY,
    }


def test_an_option_has_the_argument_of_its_type() -> None:
    assert BY_KEY["reservedMemory"].argument_spec() == {"type": "raw"}
    assert BY_KEY["topologyManagerScope"].argument_spec() == {"type": "str", "choices": ["container", "pod"]}
    assert BY_KEY["enforceNodeAllocatable"].argument_spec().items() >= {"type": "list", "elements": "str"}.items()


@pytest.mark.parametrize(
    ("gates", "version", "problems"),
    [
        ({"MemoryManager": False}, (1, 31), []),
        ({"MemoryManager": False}, (1, 32), ["MemoryManager is locked to true since 1.32"]),
        ({"MemoryManager": "false"}, (1, 32), ["MemoryManager is locked to true since 1.32"]),
        ({"CPUManagerPolicyOptions": False}, (1, 33), ["CPUManagerPolicyOptions is locked to true since 1.33"]),
        ({"CPUManagerPolicyBetaOptions": True}, (1, 22), ["CPUManagerPolicyBetaOptions was added in 1.23"]),
        ({"TopologyManagerPolicyOptions": False}, (1, 32), []),
        ({"Unknown": False}, (1, 20), []),
    ],
)
def test_gates_that_a_version_does_not_take_are_problems(
    gates: dict[str, object], version: Version, problems: list[str]
) -> None:
    assert list(gate_problems(gates, version)) == problems


@pytest.mark.parametrize(
    ("root", "driver", "path", "tree"),
    [
        ("/", Driver.SYSTEMD, "", "kubepods.slice"),
        ("/", Driver.CGROUPFS, "", "kubepods"),
        ("/a", Driver.SYSTEMD, "a.slice", "a.slice/a-kubepods.slice"),
        ("/a/b", Driver.SYSTEMD, "a.slice/a-b.slice", "a.slice/a-b.slice/a-b-kubepods.slice"),
        ("/a/b", Driver.CGROUPFS, "a/b", "a/b/kubepods"),
        ("/a-b", Driver.SYSTEMD, "a_b.slice", "a_b.slice/a_b-kubepods.slice"),
        ("/a-b/", Driver.CGROUPFS, "a-b", "a-b/kubepods"),
    ],
)
def test_the_cgroup_of_a_root(root: str, driver: Driver, path: str, tree: str) -> None:
    assert (cgroup_path(root, driver), KubeletTree(driver, root).pods()) == (path, tree)


BY_KEY = {field.key: field for field in FIELDS}
ENTRY = {"numaNode": 0, "limits": {"memory": "1Gi"}}


@pytest.mark.parametrize(
    ("key", "current", "desired", "equal"),
    [
        ("cgroupRoot", None, "/", True),
        ("cgroupRoot", "", "/", True),
        ("cgroupRoot", None, "/pods", False),
        ("cgroupRoot", 5, "/pods", False),
        ("cpuManagerPolicyOptions", "T", "true", True),
        ("cpuManagerPolicyOptions", True, "true", False),
        ("cpuManagerPolicyOptions", "false", "true", False),
        ("topologyManagerPolicyOptions", "8", "8", True),
        ("topologyManagerPolicyOptions", "8", "9", False),
        ("enforceNodeAllocatable", ["a", "b"], ["b", "a"], True),
        ("enforceNodeAllocatable", ["a", "a"], ["a"], False),
        ("enforceNodeAllocatable", "pods", ["pods"], False),
        ("memoryThrottlingFactor", 1, 1.0, True),
        ("memoryThrottlingFactor", True, 1.0, False),
        ("memoryThrottlingFactor", "0.9", 0.9, False),
        ("failCgroupV1", "false", False, False),
        ("failCgroupV1", False, False, True),
        ("podPidsLimit", 5, 5, True),
        ("podPidsLimit", "5", 5, False),
        ("featureGates", True, True, True),
        ("featureGates", "true", True, False),
        ("reservedMemory", [{"numaNode": 0, "limits": {"memory": 1 << 30}}], [ENTRY], True),
        ("reservedMemory", [{"numaNode": "0", "limits": {"memory": "1Gi"}}], [ENTRY], False),
        ("reservedMemory", [ENTRY, {"numaNode": 1, "limits": {"memory": "1"}}], [ENTRY], False),
        ("reservedMemory", ["0:memory=1Gi"], [ENTRY], False),
        ("reservedMemory", [{"numaNode": 0, "limits": {"memory": "much"}}], [ENTRY], False),
        ("reservedMemory", None, [ENTRY], False),
    ],
)
def test_whether_a_files_value_means_the_desired_one(key: str, current: object, desired: object, equal: bool) -> None:
    assert BY_KEY[key].means(current, desired) is equal
