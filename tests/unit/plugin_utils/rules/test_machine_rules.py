# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about cgroups, CPUs, the kernel, systemd and other writers, each on its variant of a real node."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.catalogue import findings
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.rule_types import Finding
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    Snapshot,
    captured,
    facts_of,
    kubelet_adds,
    kubelet_edit,
    kubelet_flags,
    put,
    without_pods,
)
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rules.variants_machine import (
    ROOT,
    SINGLE,
    SWAPS,
    VARIANTS,
    by_socket,
    command_line,
    commands,
    cpu_files,
    enabled,
    hybrid,
    numa,
    plugin_directory,
    realtime,
    reserved,
    systemd,
    unit,
    v1,
    v1_252,
    without_fail_swap_on,
)


def findings_by_code(snapshot: Snapshot) -> dict[str, Finding]:
    return {finding.code: finding for finding in findings(facts_of(snapshot))}


LEGACY = "systemd.unified_cgroup_hierarchy=0 systemd.legacy_systemd_cgroup_controller=1"
FORCED = f"{LEGACY} SYSTEMD_CGROUP_ENABLE_LEGACY_FORCE=1"
TOPOLOGY = "topologyManagerPolicy: best-effort\n"

SILENT: dict[str, tuple[str, Callable[[Snapshot], Snapshot]]] = {
    "v1 that the next boot uses again": (
        "reboot-changes-cgroup-mode",
        lambda node: command_line(systemd(v1(node), "252.39-1~deb12u1"), LEGACY),
    ),
    "v1 forced on systemd 257": (
        "reboot-changes-cgroup-mode",
        lambda node: command_line(systemd(v1(node), "257"), FORCED),
    ),
    "v1 by the distribution's default": (
        "reboot-changes-cgroup-mode",
        lambda node: command_line(systemd(v1(node), "249"), "quiet"),
    ),
    "v1 with an unknown systemd": (
        "reboot-changes-cgroup-mode",
        lambda node: put(command_line(v1(node), LEGACY), None, "services", "version"),
    ),
    "a mode that cannot be determined": (
        "reboot-changes-cgroup-mode",
        lambda node: put(command_line(node, "quiet"), [], "cgroups", "mountinfo"),
    ),
    "a controller that only rubik's relatives need": ("cgroup-controllers-missing", v1),
    "hybrid with nothing on the other side": ("cgroup-controllers-split", lambda node: hybrid(node, "misc rdma")),
    "real-time threads without an effect": ("realtime-blocks-cpu", lambda node: realtime(node, "n")),
    "a level that is not kubelet's": (
        "cgroup-controllers-not-enabled",
        lambda node: enabled(node, "memory", f"{ROOT}/kubepods"),
    ),
    "a QoS class without pods": (
        "cgroup-controllers-not-enabled",
        lambda node: enabled(node, "", f"{ROOT}/kubepods.slice/kubepods-burstable.slice"),
    ),
    "no tree of kubelet's yet": (
        "cgroup-controllers-not-enabled",
        lambda node: put(enabled(node, "memory pids"), [], "cgroups", "trees"),
    ),
    "cpu.idle 0": (
        "idle-qos-class",
        lambda node: put(node, "0", "cgroups", "files", f"{ROOT}/kubepods/besteffort/cpu.idle"),
    ),
    "a tmpfs that is read-only, as systemd mounts v1's": ("cgroups-read-only", v1),
    "many NUMA nodes without a topology manager": ("too-many-numa-nodes", lambda node: numa(node, 16)),
    "many NUMA nodes allowed in the file": (
        "too-many-numa-nodes",
        lambda node: kubelet_adds(
            numa(node, 9), f'{TOPOLOGY}topologyManagerPolicyOptions: {{max-allowable-numa-nodes: "9"}}\n'
        ),
    ),
    "many NUMA nodes allowed by a flag": (
        "too-many-numa-nodes",
        lambda node: kubelet_flags(
            kubelet_adds(numa(node, 9), TOPOLOGY),
            "--topology-manager-policy-options=prefer-closest-numa-nodes=true,max-allowable-numa-nodes=16",
        ),
    ),
    "eight NUMA nodes": ("too-many-numa-nodes", lambda node: kubelet_adds(numa(node, 8), TOPOLOGY)),
    "as many NUMA nodes as sockets": ("sockets-without-numa-nodes", lambda node: by_socket(node, 2, 2)),
    "one socket": ("sockets-without-numa-nodes", lambda node: by_socket(node, 1, 1)),
    "sockets that the kernel does not number": (
        "sockets-without-numa-nodes",
        lambda node: put(by_socket(node, 2, 1), ["-1", "0"], "cpus", "sockets"),
    ),
    "a kernel without NUMA": ("sockets-without-numa-nodes", lambda node: by_socket(node, 2, 0)),
    "swap that the file allows": ("swap-on", lambda node: put(node, SWAPS, "system", "swaps")),
    "swap that a flag allows": (
        "swap-on",
        lambda node: kubelet_flags(put(without_fail_swap_on(node), SWAPS, "system", "swaps"), "--fail-swap-on=false"),
    ),
    "no swap": ("swap-on", lambda node: put(without_fail_swap_on(node), SWAPS.splitlines()[0], "system", "swaps")),
    "a unit that kills, on a node without pods": (
        "runtime-restart-kills-pods",
        lambda node: unit(without_pods(node), "containerd.service", KillMode="mixed"),
    ),
    "a reserved cgroup that exists": ("reserved-cgroup-missing", lambda node: reserved(node, ROOT)),
    "a reserved cgroup of which nothing is recorded": (
        "reserved-cgroup-missing",
        lambda node: put(reserved(node), {}, "cgroups", "reserved"),
    ),
    "a reserved cgroup that is not enforced": (
        "reserved-cgroup-missing",
        lambda node: kubelet_edit(reserved(node), "[pods, system-reserved]", "[pods]"),
    ),
    "a reserved cgroup under an unknown driver": (
        "reserved-cgroup-missing",
        lambda node: kubelet_edit(reserved(node), "cgroupDriver: systemd", "cgroupDriver: x"),
    ),
    "one QoS agent": ("two-qos-agents", lambda node: commands(node, koordlet=3)),
    "rubik on v1": ("rubik-needs-v1", lambda node: commands(v1(node), rubik=1)),
    "rubik on openEuler's kernel": (
        "rubik-kernel-features-missing",
        lambda node: cpu_files(
            commands(command_line(v1(node), "psi=1 psi_v1=1 cgroup1_writeback"), rubik=1), "cpu.shares", "cpu.qos_level"
        ),
    ),
    "an old kernel with v1": (
        "below-v2-minimum",
        lambda node: put(v1_252(node), "4.19.90", "system", "kernel_release"),
    ),
    "v1 that kills single processes as always": (
        "single-process-oom-kill-on-v1",
        lambda node: kubelet_adds(v1(node), "singleProcessOOMKill: true\n"),
    ),
    "v2 that kills single processes": ("single-process-oom-kill-on-v1", lambda node: kubelet_adds(node, SINGLE)),
    "an NRI plugin": ("nri-backup-is-run", lambda node: plugin_directory(node, "/opt/nri/plugins", "10-balloons")),
}


@pytest.mark.parametrize("case", SILENT)
def test_a_rule_is_silent(case: str) -> None:
    code, variant = SILENT[case]
    assert code not in findings_by_code(variant(captured(ALIGNED)))


def test_the_realtime_thread_is_named_with_its_unit() -> None:
    (line,) = findings_by_code(realtime(captured(ALIGNED)))["realtime-blocks-cpu"].evidence
    assert line == "pid 402 thread 409 multipathd: RR 99 in multipathd.service"


def test_a_realtime_thread_without_a_unit_is_named_with_its_cgroup() -> None:
    node = put(realtime(captured(ALIGNED), None), "/docker/abc", "cgroups", "realtime", "threads", 0, "cgroup")
    assert findings_by_code(node)["realtime-blocks-cpu"].evidence[0].endswith("in /docker/abc")


def test_the_kernel_parameter_that_took_a_controller_away_is_named() -> None:
    node = VARIANTS["cgroup-controllers-missing"][1](captured(ALIGNED))
    evidence = findings_by_code(command_line(node, "cgroup_disable=memory"))["cgroup-controllers-missing"].evidence
    assert evidence == ("cgroup v2: cpuset cpu io pids", "cgroup_disable=memory")


@pytest.mark.parametrize(("version", "word"), [("256.4", "does not boot"), ("257.13", "30 s"), ("258", "no cgroup v1")])
def test_the_next_boot_is_predicted_for_each_systemd(version: str, word: str) -> None:
    finding = findings_by_code(command_line(systemd(v1(captured(ALIGNED)), version), LEGACY))[
        "reboot-changes-cgroup-mode"
    ]
    assert word in finding.evidence[0]


def test_v2_that_the_next_boot_takes_away() -> None:
    node = command_line(systemd(captured(ALIGNED), "252"), LEGACY)
    assert "reboot-changes-cgroup-mode" in findings_by_code(node)


@pytest.mark.parametrize(("driver", "path"), [("systemd", "/system.slice"), ("cgroupfs", "/system")])
def test_a_reserved_cgroup_has_the_path_of_the_driver(driver: str, path: str) -> None:
    node = reserved(kubelet_edit(captured(ALIGNED), "cgroupDriver: systemd", f"cgroupDriver: {driver}"))
    assert findings_by_code(node)["reserved-cgroup-missing"].evidence[1] == f"{ROOT}{path} is missing"


def test_a_reserved_cgroup_is_required_in_every_v1_controller() -> None:
    node = reserved(v1(captured(ALIGNED)), f"{ROOT}/cpu,cpuacct", f"{ROOT}/memory", f"{ROOT}/pids")
    assert findings_by_code(node)["reserved-cgroup-missing"].evidence[1:] == (f"{ROOT}/cpuset/system.slice is missing",)


def test_reservations_by_flags_count() -> None:
    flags = ("--enforce-node-allocatable=pods,kube-reserved", "--kube-reserved-cgroup=/podruntime.slice")
    node = put(kubelet_flags(captured(ALIGNED), *flags), {"podruntime.slice": []}, "cgroups", "reserved")
    assert findings_by_code(node)["reserved-cgroup-missing"].evidence[0] == (
        "kubeReservedCgroup = /podruntime.slice (kubelet's command line, --kube-reserved-cgroup)"
    )


def root_offers(controllers: str) -> Snapshot:
    return put(captured(ALIGNED), controllers, "cgroups", "files", f"{ROOT}/cgroup.controllers")


@pytest.mark.parametrize(
    ("offered", "absent"),
    [
        ("cpuset cpu io memory hugetlb pids rdma misc", None),
        ("cpu io memory pids", "cpuset, hugetlb"),
        ("", "cpu, cpuset, hugetlb, memory, pids"),
    ],
)
def test_a_reserved_cgroup_needs_the_controllers_of_the_v2_root(offered: str, absent: str | None) -> None:
    node = put(
        captured(ALIGNED),
        "cpuset cpu io memory hugetlb pids rdma misc",
        "cgroups",
        "files",
        f"{ROOT}/cgroup.controllers",
    )
    node = put(reserved(node, ROOT), {"system.slice": offered}, "cgroups", "reserved_controllers")
    finding = findings_by_code(node).get("reserved-cgroup-missing")
    assert (finding.evidence[1:] if finding else None) == (
        (f"system.slice has no controller {absent}",) if absent else None
    )


def test_a_reserved_cgroup_needs_no_controller_that_the_root_has_not() -> None:
    node = root_offers("cpuset cpu io memory pids")
    node = put(reserved(node, ROOT), {"system.slice": "cpuset cpu memory pids"}, "cgroups", "reserved_controllers")
    assert "reserved-cgroup-missing" not in findings_by_code(node)


def test_an_old_systemd_is_below_the_minimum_of_v2() -> None:
    assert findings_by_code(systemd(captured(ALIGNED), "239"))["below-v2-minimum"].evidence == (
        "systemd 239, required is 244",
    )


def test_the_pods_of_the_second_tree_are_counted() -> None:
    node = put(captured(ALIGNED), {f"{ROOT}/kubepods": 2, f"{ROOT}/kubepods.slice": 3}, "cgroups", "pods")
    assert findings_by_code(node)["second-kubepods-tree"].evidence == (f"{ROOT}/kubepods: 2 pod cgroup(s)",)
