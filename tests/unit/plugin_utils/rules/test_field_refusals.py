# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every combination of fields that a kubelet does not start with is refused; its nearest neighbour is not."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.assessment.node_plan import make_plan
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.change_set import Refusal
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.draft import PlanDraft
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.catalogue import refusals
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    KUBELET_FILE,
    Snapshot,
    captured,
    facts_of,
    kubelet_adds,
    kubelet_edit,
    profile_of,
    put,
)
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.plan.field_cases import (
    CASES,
    GIB,
    SYSTEM,
    Options,
    enforced,
    topology,
)
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rules.variants_around import RESERVATION
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rules.variants_kubelet import on_v1, version

ROOT = "/sys/fs/cgroup"
EVERYTHING = "cpuset cpu io memory hugetlb pids rdma misc"
TWO_NUMA_NODES = {"0": "0", "1": "1"}


def node(number: str) -> Snapshot:
    """The aligned node (static, systemReserved cpu 500m, evictionHard 64Mi) with another kubelet."""
    return version(put(captured(ALIGNED), TWO_NUMA_NODES, "cpus", "numa"), number)


def refused(snapshot: Snapshot, options: Options) -> dict[str, Refusal]:
    return {refusal.code: refusal for refusal in refusals(PlanDraft(facts_of(snapshot), profile_of(**options)))}


@pytest.mark.parametrize("case", CASES)
def test_a_combination(case: str) -> None:
    number, options, code, words = CASES[case]
    refusals = refused(node(number), options)
    assert set(refusals) - {"version-too-old"} == ({code} if code else set())
    if code:
        text = str(refusals[code])
        assert words in text
        assert number in text
        assert refusals[code].variable
        assert text.endswith(".")


@pytest.mark.parametrize(
    ("number", "gates", "code"),
    [
        ("1.35.6", {}, None),
        ("1.36.0", {}, "memory-reservation-refused"),
        ("1.36.0", {"MemoryQoS": True}, None),
        ("1.37.0", {}, None),
        ("1.37.0", {"MemoryQoS": False}, "memory-reservation-refused"),
    ],
)
def test_a_reservation_without_its_gate(number: str, gates: dict[str, bool], code: str | None) -> None:
    refusals = refused(kubelet_adds(node(number), RESERVATION), {"pod_pids_limit": 99, "feature_gates": gates})
    assert set(refusals) == ({code} if code else set())
    if code:
        assert f"memoryReservationPolicy = TieredReservation ({KUBELET_FILE})" in str(refusals[code])


V1_CASES: dict[str, tuple[str, Options, str | None, str]] = {
    "v1, 1.34": ("1.34.9", {"pod_pids_limit": 1}, None, ""),
    "v1, 1.35": ("1.35.6", {"pod_pids_limit": 1}, "cgroup-v1-refused", "does not start on cgroup v1"),
    "v1, 1.35 allowed": ("1.35.6", {"fail_cgroup_v1": False}, None, ""),
    "v1, 1.31 forbidden": (
        "1.31.14",
        {"fail_cgroup_v1": True},
        "cgroup-v1-refused",
        "failCgroupV1 = true (the profile)",
    ),
    "one process, false": (
        "1.32.13",
        {"single_process_oom_kill": False},
        "single-process-oom-kill-on-v1",
        "false on cgroup v1",
    ),
    "one process, true": ("1.32.13", {"single_process_oom_kill": True}, None, ""),
    "MemoryQoS": ("1.30.14", {"feature_gates": {"MemoryQoS": True}}, "memory-qos-on-v1", "has no effect on cgroup v1"),
    "MemoryQoS off": ("1.30.14", {"feature_gates": {"MemoryQoS": False}}, None, ""),
}


@pytest.mark.parametrize("case", V1_CASES)
def test_on_cgroup_v1(case: str) -> None:
    number, options, code, words = V1_CASES[case]
    refusals = refused(on_v1(node(number)), options)
    assert set(refusals) == ({code} if code else set())
    assert not code or words in str(refusals[code])


@pytest.mark.parametrize(("kernel", "code"), [("5.8.18", {"memory-qos-on-old-kernel"}), ("5.9.0", set())])
def test_memory_high_needs_a_sound_kernel(kernel: str, code: set[str]) -> None:
    snapshot = put(node("1.30.14"), kernel, "system", "kernel_release")
    assert set(refused(snapshot, {"feature_gates": {"MemoryQoS": True}})) == code


UNKNOWN: list[tuple[Options, str | None]] = [
    ({"fail_cgroup_v1": False}, "failCgroupV1 was added in kubelet 1.31"),
    ({"cpu_manager_policy_options": {"full-pcpus-only": True}}, "cpuManagerPolicyOptions was added in kubelet 1.22"),
    (
        enforced("pods", "system-reserved-compressible", **SYSTEM),
        "system-reserved-compressible was added in kubelet 1.32",
    ),
    ({"feature_gates": {"MemoryQoS": False}}, "MemoryQoS was added in kubelet 1.22"),
    ({"feature_gates": {"SomethingNew": True}}, None),
    (enforced("pods", "system-reserved", **SYSTEM), None),
    ({"topology_manager_scope": "pod", "pod_pids_limit": 5, "cgroup_driver": "systemd"}, None),
]


@pytest.mark.parametrize(("options", "words"), UNKNOWN)
def test_an_unknown_version_accepts_only_what_every_version_has(options: Options, words: str | None) -> None:
    refusals = refused(put(node("1.30.14"), None, "kubelet", "version"), options)
    assert set(refusals) == ({"kubelet-version-unknown"} if words else set())
    assert not words or words in str(refusals["kubelet-version-unknown"])


def with_slice(
    snapshot: Snapshot, points: list[str], controllers: str = EVERYTHING, path: str = "system.slice"
) -> Snapshot:
    snapshot = put(snapshot, EVERYTHING, "cgroups", "files", f"{ROOT}/cgroup.controllers")
    snapshot = put(snapshot, {path: points}, "cgroups", "reserved")
    return put(snapshot, {path: controllers} if points else {}, "cgroups", "reserved_controllers")


@pytest.mark.parametrize(
    ("points", "controllers", "words"),
    [
        ([ROOT], EVERYTHING, None),
        ([], "", f"{ROOT}/system.slice is missing"),
        ([ROOT], "cpu memory pids", "system.slice has no controller cpuset, hugetlb"),
    ],
)
def test_a_cgroup_must_exist_before_kubelet_is_configured_with_it(
    points: list[str], controllers: str, words: str | None
) -> None:
    snapshot = with_slice(node("1.30.14"), points, controllers)
    refusals = refused(snapshot, enforced("pods", "system-reserved", **SYSTEM))
    assert set(refusals) == ({"reserved-cgroup-missing"} if words else set())
    if words:
        refusal = refusals["reserved-cgroup-missing"]
        assert words in refusal.message
        assert "persistent slice" in refusal.remedy
        assert "system_reserved_cgroup" in (refusal.variable or "")


def test_a_service_is_not_a_slice_to_the_systemd_driver() -> None:
    snapshot = put(
        node("1.30.14"), {"system.slice/kubelet.service": [ROOT], "kubelet.service.slice": []}, "cgroups", "reserved"
    )
    options = enforced("pods", "kube-reserved", kube_reserved_cgroup="/system.slice/kubelet.service")
    assert "kubelet.service.slice is missing" in str(refused(snapshot, options)["reserved-cgroup-missing"])


@pytest.mark.parametrize(
    ("root", "driver", "path", "exists", "words"),
    [
        ("/pods", "systemd", "pods.slice", True, None),
        ("/pods", "systemd", "pods.slice", False, f"{ROOT}/pods.slice is missing"),
        ("/a/b-c", "systemd", "a.slice/a-b_c.slice", False, f"{ROOT}/a.slice/a-b_c.slice is missing"),
        ("/a/b", "cgroupfs", "a/b", False, f"{ROOT}/a/b is missing"),
        ("/a/b", "cgroupfs", "a/b", True, None),
        ("/pods.slice", "systemd", "pods.slice", True, "write /pods"),
        ("/pods.slice", "cgroupfs", "pods.slice", True, None),
        ("/", "systemd", "pods.slice", False, None),
        ("/my pods", "systemd", "my pods", True, "'my pods.slice' is not the name of a slice. It has ' '"),
        ("/my pods", "cgroupfs", "my pods", True, None),
        ("/pods/", "systemd", "pods.slice", True, "Write /pods."),
        ("/pods/", "cgroupfs", "pods", True, None),
    ],
)
def test_the_root_of_all_pods(root: str, driver: str, path: str, exists: bool, words: str | None) -> None:
    snapshot = with_slice(node("1.30.14"), [ROOT] if exists else [], path=path)
    refusals = refused(snapshot, {"cgroup_root": root, "cgroup_driver": driver})
    assert set(refusals) == ({"cgroup-root-refused"} if words else set())
    assert not words or words in str(refusals["cgroup-root-refused"])


def test_a_root_that_is_in_force_is_proven_by_the_kubelet_that_runs() -> None:
    snapshot = with_slice(kubelet_adds(node("1.30.14"), "cgroupRoot: /pods\n"), [], path="pods.slice")
    assert refused(snapshot, {"cgroup_root": "/pods"}) == {}


@pytest.mark.parametrize(
    ("number", "policy", "count", "code"),
    [
        ("1.30.14", "restricted", 9, {"too-many-numa-nodes"}),
        ("1.30.14", "restricted", 8, set()),
        ("1.30.14", "none", 9, set()),
    ],
)
def test_more_numa_nodes_than_the_topology_manager_takes(number: str, policy: str, count: int, code: set[str]) -> None:
    snapshot = put(node(number), {str(number): str(number) for number in range(count)}, "cpus", "numa")
    assert set(refused(snapshot, {"topology_manager_policy": policy})) == code


@pytest.mark.parametrize(
    ("sockets", "lists", "code"),
    [
        (["0", "1"], {"0": "0-1"}, {"sockets-without-numa-nodes"}),
        (["0", "1"], {"0": "0", "1": "1"}, set()),
        (["0", "1"], {"0": "0-1", "1": ""}, {"sockets-without-numa-nodes"}),
        (["0"], {"0": "0-1"}, set()),
        ([], {"0": "0-1"}, set()),
    ],
)
def test_align_by_socket_where_a_numa_node_spans_sockets(
    sockets: list[str], lists: dict[str, str], code: set[str]
) -> None:
    snapshot = put(put(node("1.30.14"), lists, "cpus", "numa"), sockets, "cpus", "sockets")
    options: Options = {
        "cpu_manager_policy": "static",
        "cpu_manager_policy_options": {"align-by-socket": True},
        "feature_gates": {"CPUManagerPolicyAlphaOptions": True},
        "system_reserved": {"cpu": "500m"},
    }
    refusals = refused(snapshot, options)
    assert set(refusals) == code
    if code:
        refusal = refusals["sockets-without-numa-nodes"]
        assert "cpu_manager_policy_options" in (refusal.variable or "")
        assert "1.25 and newer" in refusal.message
        assert "(kubelet 1.30.14)" in refusal.message


def test_more_numa_nodes_with_the_option() -> None:
    snapshot = put(node("1.31.14"), {str(number): str(number) for number in range(9)}, "cpus", "numa")
    assert refused(snapshot, topology("restricted", max_allowable_numa_nodes="9")) == {}


def test_a_value_in_the_file_is_refused_with_its_file() -> None:
    snapshot = kubelet_adds(node("1.30.14"), "enforceNodeAllocatable: [pods, kube-reserved]\n")
    refusal = refused(snapshot, {"pod_pids_limit": 5})["enforcement-refused"]
    assert (refusal.file, refusal.variable) == (KUBELET_FILE, None)
    assert "kubelet 1.30.14" in refusal.message


def test_a_value_in_the_file_that_the_profile_corrects_is_not_refused() -> None:
    snapshot = kubelet_adds(node("1.30.14"), "enforceNodeAllocatable: [pods, kube-reserved]\n")
    assert refused(snapshot, enforced("pods")) == {}


def test_the_file_is_not_checked_if_kubelet_is_not_changed() -> None:
    snapshot = kubelet_adds(node("1.30.14"), "enforceNodeAllocatable: [pods, kube-reserved]\n")
    assert refused(snapshot, {"nri": {"enabled": True}}) == {}


def test_a_refused_node_has_no_plan() -> None:
    plan = make_plan(
        facts_of(node("1.30.14")), profile_of(fail_cgroup_v1=False, pod_pids_limit=5), allow_disruption=True
    )
    assert plan.changes == ()
    assert [refusal.code for refusal in plan.refusals] == ["kubelet-too-old-for-field"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("memory.available: 64Mi", "memory.available: 5%"), "is a percentage"),
        (("memory.available: 64Mi", "memory.available: much"), "'much'"),
    ],
)
def test_memory_that_cannot_be_computed(change: tuple[str, str], words: str) -> None:
    options = {"memory_manager_policy": "Static", "reserved_memory": "auto", **GIB}
    refusals = refused(kubelet_edit(node("1.30.14"), *change), options)
    assert words in str(refusals["reserved-memory-not-computable"])


def test_without_numa_nodes_no_memory_is_computed() -> None:
    options = {"memory_manager_policy": "Static", "reserved_memory": "auto", **GIB}
    refusals = refused(put(node("1.30.14"), {}, "cpus", "numa"), options)
    assert "no known NUMA node" in str(refusals["reserved-memory-not-computable"])
