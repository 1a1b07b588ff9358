# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Invalid input that the controller detects: each refusal has its file, line or variable, and the remedy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.change_set import Refusal
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.draft import PlanDraft
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.node_profile import parse_profile
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.catalogue import refusals
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    DESIRED,
    DIFFERING,
    KUBELET_FILE,
    RUNTIME_FILE,
    Snapshot,
    captured,
    desired,
    facts_of,
    kubelet_adds,
    kubelet_edit,
    kubelet_flags,
    kubelet_text,
    missing,
    old_containerd,
    profile_of,
    put,
    runtime_text,
    stopped_kubelet,
)

STATIC = {"cpu_manager_policy": "static"}


def same(node: Snapshot) -> Snapshot:
    return node


BAD: dict[str, tuple[str, Callable[[Snapshot], Snapshot], dict[str, Any], tuple[str, ...]]] = {
    "unparsable YAML": (
        "config-unreadable",
        lambda node: kubelet_adds(node, "evictionSoft: [a\n"),
        DESIRED,
        (f"{KUBELET_FILE}:33: a list in brackets", "Close the list with ]. Until then the file is not changed."),
    ),
    "duplicate key in YAML": (
        "config-unreadable",
        lambda node: kubelet_adds(node, "cgroupDriver: cgroupfs\n"),
        DESIRED,
        (f"{KUBELET_FILE}:32: key 'cgroupDriver' is set twice, first in line ", "Keep the one that is meant"),
    ),
    "YAML that is not a mapping": (
        "config-unreadable",
        lambda node: kubelet_text(node, "# nothing\n- cgroupDriver\n"),
        DESIRED,
        (f"{KUBELET_FILE}:2: ", "mapping", "Write one 'key: value' on each line"),
    ),
    "unparsable TOML": (
        "config-unreadable",
        lambda node: runtime_text(node, "version = 2\n[plugins\n"),
        DESIRED,
        (f"{RUNTIME_FILE}:2: a table header", "Write it as [name]"),
    ),
    "kubelet's file is a link": (
        "config-is-symlink",
        lambda node: put(node, "symlink", "kubelet", "files", KUBELET_FILE, "kind"),
        DESIRED,
        (f"{KUBELET_FILE}: ", "symbolic link", "--config"),
    ),
    "containerd's file is a link": (
        "config-is-symlink",
        lambda node: put(node, "symlink", "runtime", "files", RUNTIME_FILE, "kind"),
        DESIRED,
        (f"{RUNTIME_FILE}: ", "symbolic link", "--config"),
    ),
    "kubelet's file is a directory": (
        "config-unreadable",
        lambda node: put(node, {"kind": "directory"}, "kubelet", "files", KUBELET_FILE),
        DESIRED,
        (f"{KUBELET_FILE}: is a directory", "Replace it with a regular file"),
    ),
    "kubelet's file cannot be read": (
        "config-unreadable",
        lambda node: put(node, {"kind": "unknown", "error": "Permission denied"}, "kubelet", "files", KUBELET_FILE),
        DESIRED,
        (f"{KUBELET_FILE}: was not read: Permission denied. Use become: true",),
    ),
    "kubelet has no file": (
        "kubelet-config-missing",
        lambda node: missing(node, "kubelet", KUBELET_FILE),
        DESIRED,
        (f"{KUBELET_FILE}: ", "--config"),
    ),
    "static without a reservation": (
        "static-without-reservation",
        same,
        STATIC,
        (
            f"{KUBELET_FILE} (colocation_cpu_manager_policy): ",
            "kubelet 1.20.2",
            "Reserve CPU in colocation_system_reserved",
        ),
    ),
    "static with nothing but memory reserved": (
        "static-without-reservation",
        same,
        {**STATIC, "system_reserved": {"memory": "1Gi"}},
        ("(colocation_cpu_manager_policy, colocation_system_reserved): ",),
    ),
    "static in the file and the reservation removed": (
        "static-without-reservation",
        lambda node: kubelet_edit(node, "cpuManagerPolicy: none", "cpuManagerPolicy: static"),
        {"system_reserved": {"cpu": "0"}},
        (f"{KUBELET_FILE} (colocation_system_reserved): ",),
    ),
    "more reserved than online": (
        "reservation-too-large",
        same,
        {**STATIC, "system_reserved": {"cpu": "1500m"}, "kube_reserved": {"cpu": "1"}},
        ("colocation_system_reserved, colocation_kube_reserved", "3 CPU(s)", "2 are online", "Reserve fewer"),
    ),
    "all online reserved": (
        "reservation-too-large",
        same,
        {**STATIC, "reserved_system_cpus": "0-1"},
        ("reserved_system_cpus", "2 CPU(s)", "2 are online"),
    ),
    "a reservation in the file that is not a quantity": (
        "reservation-unreadable",
        lambda node: kubelet_adds(node, "kubeReserved:\n  cpu: half\n"),
        {**STATIC, "system_reserved": {"cpu": "1"}},
        (f"{KUBELET_FILE} (colocation_system_reserved): ", "kubeReserved.cpu: 'half'", "Write amounts as texts"),
    ),
    "a reservation in the file that is not a mapping": (
        "reservation-unreadable",
        lambda node: kubelet_adds(node, "systemReserved: cpu=500m\n"),
        {**STATIC, "kube_reserved": {"cpu": "1"}},
        (f"{KUBELET_FILE} (colocation_kube_reserved): ", "systemReserved is not a table", "Write amounts as texts"),
    ),
    "a reserved CPU that is offline": (
        "reserved-cpus-offline",
        same,
        {"reserved_system_cpus": "0,5-6"},
        ("colocation_reserved_system_cpus: ", "CPU 5-6, which is not online", "online: 0-1", "Reserve online CPUs"),
    ),
    "reserved CPUs beside a reserved cgroup": (
        "reserved-cpus-with-cgroups",
        lambda node: kubelet_adds(node, "systemReservedCgroup: /system.slice\n"),
        {"reserved_system_cpus": "0"},
        (f"{KUBELET_FILE} (colocation_reserved_system_cpus): ", "systemReservedCgroup", "Keep one of them"),
    ),
    "a flag that overrides the file": (
        "flag-overrides-config",
        lambda node: kubelet_flags(node, "--cgroup-driver=cgroupfs"),
        DESIRED,
        ("--cgroup-driver=cgroupfs", "cgroupDriver", "Remove the flag"),
    ),
    "no containerd": (
        "containerd-missing",
        lambda node: put(node, None, "runtime", "program"),
        DESIRED,
        ("no containerd program", "Install containerd first"),
    ),
    "no kubelet": (
        "kubelet-missing",
        lambda node: put(node, None, "kubelet", "program"),
        DESIRED,
        ("no kubelet program", "Install kubelet first"),
    ),
    "PID 1 is another": (
        "pid1-not-systemd",
        lambda node: put(node, "tini", "system", "pid1"),
        DESIRED,
        ("PID 1 of this node is tini", "not a container"),
    ),
    "PID 1 is unknown": (
        "pid1-not-systemd",
        lambda node: put(node, None, "system", "pid1"),
        DESIRED,
        ("PID 1 of this node is unknown",),
    ),
    "cgroup mode unknown": (
        "cgroup-mode-unknown",
        lambda node: put(node, [], "cgroups", "mountinfo"),
        DESIRED,
        ("/proc/self/mountinfo: ", "nothing is mounted at /sys/fs/cgroup", "Mount cgroups"),
    ),
    "kubelet stopped": (
        "kubelet-not-running",
        stopped_kubelet,
        DESIRED,
        ("kubelet.service does not run", "systemctl start kubelet"),
    ),
    "containerd silent": (
        "containerd-not-answering",
        lambda node: put(node, {"endpoint": "unix:///x.sock", "error": "refused"}, "runtime", "cri"),
        DESIRED,
        ("unix:///x.sock", "journalctl -u containerd"),
    ),
    "another schema": (
        "containerd-schema",
        lambda node: runtime_text(node, "version = 3\n"),
        DESIRED,
        (f"{RUNTIME_FILE}: ", "schema version is 3", "Migrate"),
    ),
    "no NRI": (
        "nri-unsupported",
        old_containerd,
        DESIRED,
        ("colocation_nri_enabled: ", "containerd 1.6.20~ds1 has no NRI", "colocation_nri_unsupported"),
    ),
}


def refused(snapshot: Snapshot, options: dict[str, Any]) -> tuple[Refusal, ...]:
    return refusals(PlanDraft(facts_of(snapshot), parse_profile(options)))


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_with_its_place_and_remedy(case: str) -> None:
    code, variant, options, words = BAD[case]
    refusals = {refusal.code: str(refusal) for refusal in refused(variant(captured(DIFFERING)), options)}
    assert code in refusals
    for word in words:
        assert word in refusals[code]


@pytest.mark.parametrize("name", [ALIGNED, DIFFERING])
def test_a_sound_node_is_not_refused(name: str) -> None:
    assert refusals(PlanDraft(facts_of(captured(name)), desired())) == ()


def test_all_refusals_are_reported_together() -> None:
    snapshot = put(kubelet_flags(captured(DIFFERING), "--cgroup-driver=systemd"), "tini", "system", "pid1")
    codes = [refusal.code for refusal in refused(snapshot, {**DESIRED, "system_reserved": {}})]
    assert codes == ["pid1-not-systemd", "flag-overrides-config", "static-without-reservation"]


def test_a_flag_is_reported_once_however_many_entries_it_overrides() -> None:
    snapshot = kubelet_flags(captured(DIFFERING), "--system-reserved", "cpu=1")
    refusals = refused(snapshot, {"system_reserved": {"cpu": "1", "memory": "1Gi"}})
    assert [refusal.code for refusal in refusals] == ["flag-overrides-config"]


def test_a_flag_of_a_field_outside_the_profile_does_not_matter() -> None:
    assert refused(kubelet_flags(captured(DIFFERING), "--cgroup-driver=cgroupfs"), {"read_only_port": 0}) == ()


def test_a_reservation_the_node_has_already_is_enough_for_static() -> None:
    assert refused(captured(ALIGNED), STATIC) == ()
    assert refused(kubelet_adds(captured(DIFFERING), 'reservedSystemCPUs: "0"\n'), STATIC) == ()


def test_reserved_cpus_take_the_place_of_the_other_reservations() -> None:
    options = {**STATIC, "reserved_system_cpus": "0", "system_reserved": {"cpu": "8"}}
    assert refused(captured(DIFFERING), options) == ()


def test_a_fraction_of_a_cpu_reserves_a_whole_one() -> None:
    assert refused(captured(DIFFERING), {**STATIC, "system_reserved": {"cpu": "1m"}}) == ()
    codes = [refusal.code for refusal in refused(captured(DIFFERING), {**STATIC, "system_reserved": {"cpu": "1001m"}})]
    assert codes == ["reservation-too-large"]


def test_of_an_image_no_online_cpus_are_known_and_nothing_is_made_of_it() -> None:
    image = put(captured(DIFFERING), None, "cpus", "online")
    assert refused(image, {**STATIC, "reserved_system_cpus": "0-63"}) == ()


@pytest.mark.parametrize("state", ["activating", "failed"])
def test_a_kubelet_that_crashes_is_worth_trying(state: str) -> None:
    snapshot = put(stopped_kubelet(captured(ALIGNED)), state, "services", "units", "kubelet.service", "ActiveState")
    assert refused(snapshot, DESIRED) == ()


def test_no_profile_still_needs_a_node() -> None:
    facts = facts_of(put(captured(ALIGNED), "tini", "system", "pid1"))
    assert [refusal.code for refusal in refusals(PlanDraft(facts, profile_of()))] == ["pid1-not-systemd"]
