# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A profile of every kubelet field, applied to real files: a second plan is empty."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.assessment.node_plan import make_plan
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.readers import read_yaml
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.change_set import Impact
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.file_edits import file_edits
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.kubelet_fields import FIELDS
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.node_profile import Profile
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    KUBELET_FILE,
    Snapshot,
    captured,
    facts_of,
    kubelet_edit,
    profile_of,
    put,
)
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rules.variants_kubelet import version

V2 = ("trixie-v2-aligned", "trixie-v2-cgroupfs-aligned", "trixie-v2-drivers-differ", "trixie-v2-static")
"""On cgroup v1 the gate MemoryQoS is refused."""

FULL: dict[str, Any] = {
    "cgroup_driver": "systemd",
    "cgroup_root": "/pods",
    "cpu_manager_policy": "static",
    "cpu_manager_policy_options": {"full-pcpus-only": True, "distribute-cpus-across-numa": "false"},
    "topology_manager_policy": "restricted",
    "topology_manager_scope": "pod",
    "topology_manager_policy_options": {"max-allowable-numa-nodes": 16},
    "memory_manager_policy": "Static",
    "reserved_memory": "auto",
    "system_reserved": {"cpu": "500m", "memory": "1Gi", "pid": 1000},
    "kube_reserved": {"cpu": "0.2", "memory": "333Mi"},
    "system_reserved_cgroup": "/system.slice",
    "kube_reserved_cgroup": "/runtime.slice",
    "enforce_node_allocatable": ["pods", "system-reserved-compressible", "kube-reserved"],
    "memory_throttling_factor": 1,
    "fail_cgroup_v1": False,
    "single_process_oom_kill": True,
    "pod_pids_limit": 4096,
    "read_only_port": 10255,
    "feature_gates": {"MemoryQoS": True, "CPUManagerPolicyAlphaOptions": "false"},
}
WRITTEN: dict[str, Any] = {
    "cgroupDriver": "systemd",
    "cgroupRoot": "/pods",
    "cpuManagerPolicy": "static",
    "cpuManagerPolicyOptions": {"full-pcpus-only": "true", "distribute-cpus-across-numa": "false"},
    "topologyManagerPolicy": "restricted",
    "topologyManagerScope": "pod",
    "topologyManagerPolicyOptions": {"max-allowable-numa-nodes": "16"},
    "memoryManagerPolicy": "Static",
    # 1Gi + 333Mi + evictionHard 64Mi are 1421Mi.
    "reservedMemory": [
        {"numaNode": 0, "limits": {"memory": "711Mi"}},
        {"numaNode": 1, "limits": {"memory": "710Mi"}},
    ],
    "systemReserved": {"cpu": "500m", "memory": "1Gi", "pid": "1000"},
    "kubeReserved": {"cpu": "0.2", "memory": "333Mi"},
    "systemReservedCgroup": "/system.slice",
    "kubeReservedCgroup": "/runtime.slice",
    "enforceNodeAllocatable": ["pods", "system-reserved-compressible", "kube-reserved"],
    "memoryThrottlingFactor": 1.0,
    "failCgroupV1": False,
    "singleProcessOOMKill": True,
    "podPidsLimit": 4096,
    "readOnlyPort": 10255,
    "featureGates": {"MemoryQoS": True, "CPUManagerPolicyAlphaOptions": False},
}
# A profile reserves CPUs by amount or by a list; the list excludes the cgroups.
APART = {"reserved_system_cpus"}


def node(name: str) -> Snapshot:
    snapshot = put(captured(name), {"0": "0", "1": "1", "2": ""}, "cpus", "numa")
    return version(snapshot, "1.35.6")


def edited(snapshot: Snapshot, profile: Profile) -> Snapshot:
    """The node after the plan for kubelet's file is applied."""
    plan = make_plan(facts_of(snapshot), profile, allow_disruption=True)
    assert plan.refusals == ()
    for edit in file_edits(snapshot, plan.changes):
        if edit.path == KUBELET_FILE:
            snapshot = put(snapshot, edit.after, "kubelet", "files", KUBELET_FILE, "text")
    return snapshot


def text(snapshot: Snapshot) -> str:
    current: str = snapshot["kubelet"]["files"][KUBELET_FILE]["text"]
    return current


def test_this_profile_has_every_field() -> None:
    assert {field.option for field in FIELDS} - APART == set(FULL)


@pytest.mark.parametrize("name", V2)
def test_every_field_is_written_as_kubelet_has_it_and_nothing_else_is_touched(name: str) -> None:
    before = text(node(name))
    after = text(edited(node(name), profile_of(**FULL)))
    result = read_yaml(after)
    assert {key: result[key] for key in WRITTEN} == WRITTEN
    unmanaged = {key: value for key, value in read_yaml(before).items() if key not in WRITTEN}
    assert {key: value for key, value in result.items() if key not in WRITTEN} == unmanaged


@pytest.mark.parametrize("name", V2)
def test_a_second_plan_has_nothing_to_write(name: str) -> None:
    once = edited(node(name), profile_of(**FULL))
    second_plan = make_plan(facts_of(once), profile_of(**FULL), allow_disruption=True)
    assert second_plan.refusals == ()
    assert [change for change in second_plan.changes if change.path == KUBELET_FILE] == []
    assert text(edited(once, profile_of(**FULL))) == text(once)


def test_other_spellings_of_the_same_are_no_change() -> None:
    once = edited(node(V2[0]), profile_of(**FULL))
    spelled = {
        **FULL,
        "cgroup_root": "/pods/",
        "system_reserved": {"cpu": "0.5", "memory": "1024Mi", "pid": "1k"},
        "reserved_memory": [
            {"numaNode": 1, "limits": {"memory": 710 << 20}},
            {"numaNode": 0, "limits": {"memory": "728064Ki"}},
        ],
        "enforce_node_allocatable": ["kube-reserved", "pods", "system-reserved-compressible"],
        "cpu_manager_policy_options": {"full-pcpus-only": "1"},
        "memory_throttling_factor": 1.0,
    }
    second_plan = make_plan(facts_of(once), profile_of(**spelled), allow_disruption=True)
    assert [str(change) for change in second_plan.changes if change.path == KUBELET_FILE] == []


def test_another_reservation_moves_the_computed_memory_along() -> None:
    once = edited(node(V2[0]), profile_of(**FULL))
    more = {**FULL, "kube_reserved": {"memory": "335Mi"}}
    changed = make_plan(facts_of(once), profile_of(**more), allow_disruption=True).changes
    result = {change.keys: change.after for change in changes_of(changed)}
    assert result == {
        ("reservedMemory",): [
            {"numaNode": 0, "limits": {"memory": "712Mi"}},
            {"numaNode": 1, "limits": {"memory": "711Mi"}},
        ],
        ("kubeReserved", "memory"): "335Mi",
    }


def changes_of(changes: Any) -> list[Any]:
    return [change for change in changes if change.path == KUBELET_FILE]


def test_entries_that_the_profile_does_not_name_stay() -> None:
    once = edited(node(V2[0]), profile_of(**FULL))
    snapshot = kubelet_edit(once, "  MemoryQoS: true\n", "  MemoryQoS: true\n  NodeLogQuery: true\n")
    again = edited(snapshot, profile_of(feature_gates={"MemoryQoS": False}))
    assert read_yaml(text(again))["featureGates"] == {
        "MemoryQoS": False,
        "NodeLogQuery": True,
        "CPUManagerPolicyAlphaOptions": False,
    }


def test_dependent_settings_are_pending_together() -> None:
    """Without permission to disrupt pods, no file is written that kubelet would not start with."""
    plan = make_plan(facts_of(node("trixie-v2-aligned")), profile_of(**FULL), allow_disruption=False)
    quiet = {change.keys[0] for change in plan.changes if change.keys}
    pending = {change.keys[0] for change in plan.pending if change.keys}
    assert {"memoryManagerPolicy", "reservedMemory", "cpuManagerPolicyOptions", "cgroupRoot"} <= pending
    assert not {"memoryManagerPolicy", "reservedMemory"} & quiet
    assert all(Impact.DRAIN not in change.needs for change in plan.changes)
