# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The impact of changes of kubelet's fields: permission to stop pods, and checkpoints that must be moved."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.state import plan_document as node_side
from ansible_collections.volcano.colocation.plugins.plugin_utils.assessment.node_plan import make_plan
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.change_set import Impact
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.desired_state import resolve_profile
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.draft import PlanDraft
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.file_edits import file_edits
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.kubelet_impact import moved_checkpoints
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.transaction_document import transaction_document
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    CHECKPOINT,
    DIFFERING,
    Snapshot,
    captured,
    checkpoint,
    facts_of,
    kubelet_adds,
    kubelet_edit,
    profile_of,
    put,
)
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rules.variants_kubelet import (
    MEMORY_CHECKPOINT,
    memory_state,
    version,
)

RESTART = {Impact.RESTART_KUBELET}
DISRUPTIVE = {Impact.RESTART_KUBELET, Impact.DRAIN}
STATIC_STATE = '{"policyName":"static","defaultCpuSet":"0-1","checksum":0}'
MEMORY_STATE = '{"policyName":"Static","machineState":{},"checksum":1}'
NO_MEMORY_STATE = '{"policyName":"None","machineState":{},"checksum":1}'
# evictionHard of the fixture is 64Mi.
STATIC_MEMORY = "memoryManagerPolicy: Static\nreservedMemory:\n- numaNode: 0\n  limits:\n    memory: 64Mi\n"
OPTION = {"cpu_manager_policy_options": {"full-pcpus-only": True}}


def node(static_cpu: bool, static_memory: bool) -> Snapshot:
    """kubelet 1.34 with these policies in its file, and checkpoints of these policies."""
    snapshot = version(captured(ALIGNED if static_cpu else DIFFERING), "1.34.9")
    snapshot = put(snapshot, {"0": "0-1"}, "cpus", "numa")
    snapshot = checkpoint(snapshot, STATIC_STATE if static_cpu else '{"policyName":"none"}')
    if static_memory:
        snapshot = kubelet_adds(snapshot, STATIC_MEMORY)
    return memory_state(snapshot, MEMORY_STATE if static_memory else NO_MEMORY_STATE)


def needs(snapshot: Snapshot, options: dict[str, Any]) -> list[set[Impact]]:
    facts = facts_of(snapshot)
    return [
        set(change.needs) for change in PlanDraft(facts, resolve_profile(facts, profile_of(**options))).kubelet_changes
    ]


ALWAYS_QUIET: list[dict[str, Any]] = [
    {"topology_manager_policy": "restricted"},
    {"topology_manager_scope": "pod"},
    {"topology_manager_policy_options": {"prefer-closest-numa-nodes": True}},
    {"enforce_node_allocatable": ["pods"]},
    {"system_reserved_cgroup": "/system.slice"},
    {"kube_reserved_cgroup": "/runtime.slice"},
    {"memory_throttling_factor": 0.5},
    {"fail_cgroup_v1": True},
    {"single_process_oom_kill": True},
    {"pod_pids_limit": 100},
    {"read_only_port": 10255},
    {"feature_gates": {"MemoryQoS": True}},
    {"system_reserved": {"ephemeral-storage": "1Gi"}},
    {"kube_reserved": {"pid": "100"}},
]
ALWAYS_DISRUPTIVE: list[dict[str, Any]] = [
    {"cgroup_driver": "cgroupfs"},
    {"cgroup_root": "/pods"},
    {"feature_gates": {"KubeletCgroupDriverFromCRI": True}},
]
BY_CPU_POLICY: list[dict[str, Any]] = [
    OPTION,
    {"reserved_system_cpus": "0"},
    {"system_reserved": {"cpu": "1"}},
    {"kube_reserved": {"cpu": "1"}},
]
BY_MEMORY_POLICY: list[dict[str, Any]] = [
    {"reserved_memory": [{"numaNode": 0, "limits": {"memory": "1Gi"}}]},
    {"system_reserved": {"memory": "1Gi"}},
    {"kube_reserved": {"memory": "1Gi"}},
]


@pytest.mark.parametrize("static_memory", [False, True])
@pytest.mark.parametrize("static_cpu", [False, True])
@pytest.mark.parametrize("options", ALWAYS_QUIET)
def test_a_change_that_disrupts_no_pod_needs_only_a_restart(
    options: dict[str, Any], static_cpu: bool, static_memory: bool
) -> None:
    assert needs(node(static_cpu, static_memory), options) == [RESTART]


@pytest.mark.parametrize("options", ALWAYS_DISRUPTIVE)
def test_what_needs_a_drained_node(options: dict[str, Any]) -> None:
    assert needs(node(False, False), options) == [DISRUPTIVE]


@pytest.mark.parametrize("options", BY_CPU_POLICY)
def test_what_the_static_cpu_manager_holds(options: dict[str, Any]) -> None:
    assert needs(node(True, False), options) == [DISRUPTIVE]
    assert needs(node(False, True), options) == [RESTART]


@pytest.mark.parametrize("options", BY_MEMORY_POLICY)
def test_what_the_static_memory_manager_holds(options: dict[str, Any]) -> None:
    assert needs(node(False, True), options) == [DISRUPTIVE]
    assert needs(node(True, False), options) == [RESTART]


def test_a_policy_that_comes_with_what_it_holds() -> None:
    becoming = {"memory_manager_policy": "Static", "reserved_memory": "auto", "system_reserved": {"memory": "1Gi"}}
    assert needs(node(False, False), becoming) == [DISRUPTIVE, DISRUPTIVE, DISRUPTIVE]


def test_a_policy_that_is_only_made_explicit_disrupts_no_pod() -> None:
    assert needs(node(False, False), {"memory_manager_policy": "None"}) == []


def moved(snapshot: Snapshot, options: dict[str, Any]) -> list[str]:
    facts, profile = facts_of(snapshot), profile_of(**options)
    plan = make_plan(facts, profile, allow_disruption=True)
    assert plan.refusals == ()
    document = transaction_document(facts, plan, profile, file_edits(snapshot, plan.changes), 300)
    node_side.parse_plan(json.dumps(document))
    paths = moved_checkpoints(facts, plan, profile)
    assert document["checkpoints"] == paths
    return paths


@pytest.mark.parametrize(
    ("options", "paths"),
    [
        ({"pod_pids_limit": 5}, []),
        ({"memory_manager_policy": "None"}, [MEMORY_CHECKPOINT]),
        (OPTION, [CHECKPOINT]),
        ({"system_reserved": {"cpu": "600m"}}, [CHECKPOINT]),
        ({"system_reserved": {"memory": "1Gi"}, "reserved_memory": "auto"}, [MEMORY_CHECKPOINT]),
        (
            {"system_reserved": {"cpu": "600m", "memory": "1Gi"}, "reserved_memory": "auto"},
            [CHECKPOINT, MEMORY_CHECKPOINT],
        ),
        ({"kube_reserved": {"pid": "1000"}}, []),
    ],
)
def test_checkpoints_of_both_managers_are_moved_by_the_change(options: dict[str, Any], paths: list[str]) -> None:
    assert moved(node(True, True), options) == paths


def test_a_checkpoint_of_no_policy_holds_nothing() -> None:
    assert moved(node(False, False), {"system_reserved": {"memory": "1Gi", "cpu": "100m"}}) == []


def test_becoming_static_moves_the_memory_checkpoint() -> None:
    options = {"memory_manager_policy": "Static", "reserved_memory": "auto"}
    assert moved(node(False, False), options) == [MEMORY_CHECKPOINT]


def test_a_node_without_a_memory_checkpoint_has_none_to_move() -> None:
    snapshot = put(node(False, False), {"kind": "missing"}, "kubelet", "files", MEMORY_CHECKPOINT)
    assert moved(snapshot, {"memory_manager_policy": "Static", "reserved_memory": "auto"}) == []


def test_a_memory_checkpoint_of_another_policy_needs_a_drained_node() -> None:
    snapshot = memory_state(node(False, True), NO_MEMORY_STATE)
    (change,) = PlanDraft(facts_of(snapshot), profile_of(memory_manager_policy="Static")).kubelet_changes
    assert (change.path, set(change.needs)) == (None, DISRUPTIVE)
    assert f"{MEMORY_CHECKPOINT} was made under policy None" in str(change)


def trees(snapshot: Snapshot, **options: Any) -> tuple[list[str], list[str]]:
    facts, profile = facts_of(snapshot), profile_of(**options)
    plan = make_plan(facts, profile, allow_disruption=True)
    document = transaction_document(facts, plan, profile, file_edits(snapshot, plan.changes), 300)
    node_side.parse_plan(json.dumps(document))
    return document["stale_cgroups"], document["fresh_cgroups"]


def test_pods_move_with_the_root() -> None:
    assert trees(captured(ALIGNED), cgroup_driver="systemd", cgroup_root="/pods") == (
        ["kubepods.slice"],
        ["pods.slice/pods-kubepods.slice"],
    )
    assert trees(captured(ALIGNED), cgroup_driver="cgroupfs", cgroup_root="/a/b") == (
        ["kubepods.slice"],
        ["a/b/kubepods"],
    )
    rooted = kubelet_adds(captured(ALIGNED), "cgroupRoot: /pods\n")
    assert trees(rooted, cgroup_driver="cgroupfs") == (["pods.slice/pods-kubepods.slice"], ["pods/kubepods"])
    assert trees(rooted, cgroup_root="/pods", pod_pids_limit=7) == ([], [])


def test_a_root_that_no_kubelet_started_with_has_no_pods() -> None:
    rooted = kubelet_adds(captured(ALIGNED), "cgroupRoot: /my pods\n")
    assert trees(rooted, cgroup_driver="cgroupfs") == ([], [])


BY_SOCKET = 'featureGates: {CPUManagerPolicyAlphaOptions: true}\ncpuManagerPolicyOptions:\n  align-by-socket: "true"\n'


@pytest.mark.parametrize(
    ("options", "quiet", "pending"),
    [
        # Without the pending option topologyManagerPolicy alone would keep kubelet from starting.
        (
            {"cpu_manager_policy_options": {"align-by-socket": False}, "topology_manager_policy": "single-numa-node"},
            [],
            ["cpuManagerPolicyOptions.align-by-socket", "topologyManagerPolicy"],
        ),
        (
            {"cpu_manager_policy_options": {"align-by-socket": False}, "topology_manager_policy": "restricted"},
            ["topologyManagerPolicy"],
            ["cpuManagerPolicyOptions.align-by-socket"],
        ),
    ],
)
def test_changes_that_depend_on_pending_ones_are_pending_too(
    options: dict[str, Any], quiet: list[str], pending: list[str]
) -> None:
    snapshot = kubelet_adds(node(True, False), BY_SOCKET)
    plan = make_plan(facts_of(snapshot), profile_of(**options), allow_disruption=False)
    assert [change.setting for change in plan.changes] == quiet
    assert [change.setting for change in plan.pending] == pending


def test_entries_of_one_table_are_pending_one_by_one() -> None:
    snapshot = kubelet_edit(node(True, False), "cpu: 500m", "cpu: 400m")
    plan = make_plan(
        facts_of(snapshot), profile_of(system_reserved={"cpu": "500m", "pid": "1000"}), allow_disruption=False
    )
    assert [change.setting for change in plan.changes] == ["systemReserved.pid"]
    assert [change.setting for change in plan.pending] == ["systemReserved.cpu"]
