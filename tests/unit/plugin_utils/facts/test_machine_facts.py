# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts of CPUs, kernel features, systemd and the next boot, and of other writers."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.cgroup_tree import interpret_cgroups
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.machine import (
    interpret_cpus,
    interpret_kernel,
    major_version,
    next_mode,
    parse_online_cpus,
    parse_parameters,
    parse_swaps,
    parse_switch,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.node_state import KernelFacts, TunedFacts
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.other_writers import interpret_writers
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.facts.test_cgroup_modes import (
    OPENEULER_22_03,
    ROOT,
    V2,
)

ASKED = "systemd.unified_cgroup_hierarchy=0"
LEGACY = "systemd.legacy_systemd_cgroup_controller"
FORCED = "SYSTEMD_CGROUP_ENABLE_LEGACY_FORCE=1"

BOOTS = [
    (None, ASKED, None),
    (252, "quiet", None),
    (252, ASKED, "hybrid"),
    (252, f"{ASKED} {LEGACY}=1", "v1"),
    (252, f"{ASKED} {LEGACY}", "v1"),
    (252, "systemd.unified_cgroup_hierarchy=1", "v2"),
    (252, "systemd.unified_cgroup_hierarchy", "v2"),
    (252, f"{ASKED} systemd.unified_cgroup_hierarchy=yes", "v2"),
    (239, "cgroup_no_v1=all", "v2"),
    (239, "cgroup_no_v1=memory", None),
    (255, f"cgroup_no_v1=all {ASKED}", "hybrid"),
    (256, f"{ASKED} {LEGACY}=1", "v2"),
    (256, f"{ASKED} {FORCED}", "hybrid"),
    (257, f"{ASKED} {LEGACY}=true {FORCED}", "v1"),
    (258, f"{ASKED} {LEGACY}=1 {FORCED}", "v2"),
]


@pytest.mark.parametrize(("version", "line", "mode"), BOOTS)
def test_the_cgroup_mode_after_the_next_boot(version: int | None, line: str, mode: str | None) -> None:
    actual, reason = next_mode(version, parse_parameters(line))
    assert (actual.value if actual else None) == mode
    assert (reason is None) == (mode is None)


@pytest.mark.parametrize(
    ("text", "number"), [("257.13-1~deb13u1", 257), ("v256", 256), ("239", 239), ("", None), (None, None)]
)
def test_the_version_of_systemd_is_read_as_a_number(text: str | None, number: int | None) -> None:
    assert major_version(text) == number


def test_switches_of_the_kernel_command_line_are_read_as_the_kernel_reads_them() -> None:
    assert [parse_switch(values) for values in (None, (), ("",), ("0", "on"), ("1", "no"))] == [
        None,
        None,
        True,
        True,
        False,
    ]


def test_only_known_parameters_are_read_from_the_kernel_command_line() -> None:
    line = 'root=/dev/vda psi=1 iscsi_password=hunter2 isolcpus="2-3" nosmt psi=0 systemd.unit=x'
    assert parse_parameters(line) == {"psi": ("1", "0"), "isolcpus": ("2-3",), "nosmt": ("",)}
    assert parse_parameters('psi=1 dyndbg="unended') == {"psi": ("1",)}
    assert parse_parameters(None) == {}


def kernel(lines: list[str], tops: Any = None, probes: Any = None, **more: Any) -> KernelFacts:
    files = {f"{ROOT}/cgroup.controllers": "cpuset cpu io memory pids"}
    cgroups = {"mountinfo": lines, "filesystem_types": {}, "files": files, "trees": []}
    cgroups.update({"tops": tops or {}, "probes": probes or {}})
    system = {"kernel_release": "6.12", "kernel_command_line": "", "swaps": None}
    return interpret_kernel({"cgroups": cgroups, "system": system, **more}, interpret_cgroups(cgroups))


def test_features_of_a_v2_kernel_are_found_by_their_files() -> None:
    slice_files = ["cpu.weight", "cpu.idle", "cpu.max.burst", "memory.max", "memory.high", "memory.min", "memory.low"]
    slice_files += ["memory.oom.group", "io.max", "cpuset.cpus", "cpuset.cpus.partition"]
    evidence = {"pressure": "some avg10=0", "sysctls": {}, "resctrl": {"known": True, "files": []}}
    facts = kernel(
        [V2],
        {ROOT: {"files": ["cgroup.procs", "io.cost.qos"]}},
        {ROOT: {"cgroup": f"{ROOT}/system.slice", "files": slice_files}},
        kernel=evidence,
    )
    assert {name for name, value in facts.features.items() if value} == {
        *("cpu_idle", "cpu_burst", "memory_high", "memory_min", "memory_low", "memory_oom_group"),
        *("cpuset_partition", "io_cost", "psi", "resctrl"),
    }
    assert (facts.features["io_weight"], facts.features["cpu_qos_level"]) == (False, False)
    assert facts.probed["cpu_burst"] == f"{ROOT}/system.slice/cpu.max.burst"
    assert facts.features["resctrl_mounted"] is False


def test_features_of_openeuler_are_v1_files_and_switches() -> None:
    cpu, memory = f"{ROOT}/cpu,cpuacct", f"{ROOT}/memory"
    evidence = {
        "pressure": None,
        "sysctls": {"/proc/sys/vm/memcg_qos_enable": "0", "/proc/sys/kernel/sched_core": None},
        "resctrl": {"known": True, "files": ["info", "schemata"]},
    }
    facts = kernel(
        OPENEULER_22_03,
        {f"{ROOT}/blkio": {"files": ["tasks", "blkio.cost.qos"]}},
        {
            cpu: {"cgroup": f"{cpu}/kubepods", "files": ["cpu.shares", "cpu.qos_level", "cpu.cfs_burst_us"]},
            memory: {"cgroup": memory, "files": ["memory.limit_in_bytes", "memory.qos_level", "memory.high"]},
        },
        kernel=evidence,
    )
    names = ("cpu_qos_level", "cpu_burst", "cpu_idle", "memory_qos_level", "memory_high", "io_cost", "psi", "io_weight")
    assert [facts.features[name] for name in names] == [True, True, False, True, True, True, False, None]
    assert facts.sysctls == {"/proc/sys/vm/memcg_qos_enable": "0"}
    assert (facts.features["resctrl"], facts.features["resctrl_mounted"]) == (True, True)


def test_a_controller_that_is_not_enabled_hides_its_features() -> None:
    facts = kernel([V2], None, {ROOT: {"cgroup": f"{ROOT}/system.slice", "files": ["memory.max"]}})
    assert (facts.features["cpu_idle"], facts.features["memory_high"]) == (None, False)
    assert "psi" not in facts.features


def test_features_without_evidence_are_unknown() -> None:
    assert set(kernel([]).features.values()) == {None}
    unread = interpret_kernel(
        {
            "cgroups": {},
            "system": {"kernel_release": None},
            "kernel": {"pressure": None, "sysctls": {}, "resctrl": {"known": None, "files": []}},
        },
        interpret_cgroups({"mountinfo": [], "filesystem_types": {}, "files": {}, "trees": []}),
    )
    assert (unread.features["psi"], unread.features["resctrl"]) == (None, None)


@pytest.mark.parametrize(
    ("text", "places"),
    [
        (None, None),
        ("Filename Type Size Used Priority", ()),
        (
            "Filename Type Size Used Priority\n/dev/zram0 partition 1 0 100\n\n/swap file 1 0 -2\n",
            ("/dev/zram0", "/swap"),
        ),
    ],
)
def test_swap_areas_are_read_from_the_table_of_the_kernel(text: str | None, places: tuple[str, ...] | None) -> None:
    assert parse_swaps(text) == places


@pytest.mark.parametrize(
    ("evidence", "smt"),
    [
        ({}, None),
        ({"smt_active": "1", "siblings": ["0,4"]}, True),
        ({"smt_active": "0", "siblings": []}, False),
        ({"smt_active": None, "siblings": ["0-1", "2-3"]}, True),
        ({"smt_active": None, "siblings": ["0", "1"]}, False),
    ],
)
def test_smt_is_read_from_the_kernel_or_from_siblings(evidence: dict[str, Any], smt: bool | None) -> None:
    assert interpret_cpus(evidence).smt is smt


def test_online_cpus_are_read_and_garbage_is_empty() -> None:
    cpus = [parse_online_cpus({"online": text}) for text in ("0-1,4", "", None, "all of them", "3-1")]
    assert cpus == [{0, 1, 4}, set(), set(), set(), set()]


def test_writers_are_found_by_process_unit_and_directory() -> None:
    units = {"systemd-oomd.service": {"ActiveState": "active"}, "rubik.service": {"ActiveState": "inactive"}}
    directories = {
        "/opt/nri/plugins": ["10-a"],
        "/run/systemd/system.control": ["kubepods-burstable.slice.d", "x.slice.d"],
    }
    writers = interpret_writers(
        {"commands": {"koordlet": 2, "volcano-config-": 1, "cadvisor": 1}, "folders": directories}, units
    )
    assert writers.evidence == {
        "koordlet": "2 process(es) koordlet",
        "systemd-oomd": "unit systemd-oomd.service",
        "volcano-config-service": "1 process(es) volcano-config-",
    }
    assert writers.nri_plugins == ("10-a",)
    assert writers.overrides == ("/run/systemd/system.control/kubepods-burstable.slice.d",)
    assert writers.tuned is None


def test_tuned_is_found_by_its_unit_and_node_tuning_by_its_process() -> None:
    files = {"/etc/tuned/realtime-variables.conf": "1-3"}
    evidence = {
        "commands": {"cluster-node-tu": 1},
        "tuned": {"profiles": ["realtime"], "cpu_affinity": "0", "isolated_cores": files},
    }
    writers = interpret_writers(evidence, {"tuned.service": {"ActiveState": "active"}})
    assert writers.evidence == {"node-tuning": "1 process(es) cluster-node-tu", "tuned": "unit tuned.service"}
    assert writers.tuned == TunedFacts(("realtime",), "0", files)
