# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The registry, row by row, according to the documentation of the kernel and systemd."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.errors import ColocationError
from ansible_collections.volcano.colocation.plugins.module_utils.settings.registry import KNOBS, knob

THROTTLE = (
    "blkio.throttle.read_bps_device blkio.throttle.write_bps_device "
    "blkio.throttle.read_iops_device blkio.throttle.write_iops_device"
)
IO_LIMITS = "IOReadBandwidthMax IOWriteBandwidthMax IOReadIOPSMax IOWriteIOPSMax"

# v1: controller and files; v2: the same; systemd: properties, signature, since, and whether on v1 too.
ROWS = {
    "cpu_weight": ("cpu: cpu.shares", "cpu: cpu.weight", "CPUWeight t 232 both"),
    "cpu_idle": ("cpu: cpu.idle cpu.shares", "cpu: cpu.idle cpu.weight", "CPUWeight t 252"),
    "cpu_period": ("cpu: cpu.cfs_period_us cpu.cfs_quota_us", "cpu: cpu.max", "CPUQuotaPeriodUSec t 242 both"),
    "cpu_quota": ("cpu: cpu.cfs_quota_us cpu.cfs_period_us", "cpu: cpu.max", "CPUQuotaPerSecUSec t 213 both"),
    "cpu_burst": ("cpu: cpu.cfs_burst_us", "cpu: cpu.max.burst", ""),
    "cpuset_cpus": ("cpuset: cpuset.cpus", "cpuset: cpuset.cpus", "AllowedCPUs ay 244"),
    "cpuset_mems": ("cpuset: cpuset.mems", "cpuset: cpuset.mems", "AllowedMemoryNodes ay 244"),
    "cpuset_partition": ("", "cpuset: cpuset.cpus.partition", "CPUSetPartition s 261"),
    "memory_min": ("memory: memory.min", "memory: memory.min", "MemoryMin t 240"),
    "memory_low": ("memory: memory.low", "memory: memory.low", "MemoryLow t 231"),
    "memory_high": ("memory: memory.high", "memory: memory.high", "MemoryHigh t 231"),
    "memory_max": ("memory: memory.limit_in_bytes", "memory: memory.max", "MemoryMax t 231 both"),
    "memory_swap_max": (
        "memory: memory.memsw.limit_in_bytes memory.limit_in_bytes",
        "memory: memory.swap.max",
        "MemorySwapMax t 232",
    ),
    "memory_oom_group": ("", "memory: memory.oom.group", ""),
    "pids_max": ("pids: pids.max", "pids: pids.max", "TasksMax t 227 both"),
    "io_weight": ("blkio: blkio.bfq.weight blkio.weight", "io: io.weight io.bfq.weight", "IOWeight t 230 both"),
    "io_max": ("blkio: " + THROTTLE, "io: io.max", IO_LIMITS + " a(st) 230"),
    "cpu_qos_level": ("cpu: cpu.qos_level", "", ""),
    "memory_qos_level": ("memory: memory.qos_level", "", ""),
    "cpu_bvt_warp_ns": ("cpu: cpu.bvt_warp_ns", "cpu: cpu.bvt_warp_ns", ""),
    "hugetlb_2MB_max": ("hugetlb: hugetlb.2MB.limit_in_bytes", "hugetlb: hugetlb.2MB.max", ""),
}


def interface(name: str, mode: str) -> str:
    row = knob(name)
    return "%s: %s" % (row.controller(mode), " ".join(row.files(mode))) if row.controller(mode) else ""


def unit_property(name: str) -> str:
    row = knob(name).unit_property
    if row is None:
        return ""
    return "%s %s %d%s" % (" ".join(row.names), row.signature, row.since, " both" if row.on_v1 else "")


@pytest.mark.parametrize("name", ROWS)
def test_a_row_is_as_documented(name: str) -> None:
    assert (interface(name, "v1"), interface(name, "v2"), unit_property(name)) == ROWS[name]


def test_all_rows_are_tested() -> None:
    assert {name.replace("<size>", "2MB") for name in KNOBS} == set(ROWS)


@pytest.mark.parametrize(
    ("name", "granule"), [("hugetlb_64KB_max", 65536), ("hugetlb_2MB_max", 2097152), ("hugetlb_1GB_max", 1073741824)]
)
def test_a_name_holds_the_size_of_huge_pages(name: str, granule: int) -> None:
    row = knob(name)
    assert row.name == name
    assert row.granule == granule


@pytest.mark.parametrize(
    "name", ["cpu_wieght", "CPUWeight", "hugetlb_max", "hugetlb_<size>_max", "hugetlb_2M_max", "hugetlb_0MB_max", ""]
)
def test_an_error_for_another_name_lists_the_known_ones(name: str) -> None:
    with pytest.raises(ColocationError) as caught:
        knob(name)
    assert repr(name) in str(caught.value)
    assert "cpu_weight, cpu_idle" in str(caught.value)


def test_one_of_several_schedulers_is_enough() -> None:
    weight = knob("io_weight")
    assert weight.supported("v2", {"io.bfq.weight", "io.max"})
    assert weight.supported("v2", {"io.weight"})
    assert not weight.supported("v2", {"io.max"})


def test_all_files_of_a_limit_are_needed() -> None:
    """memory.memsw.* does not exist without swapaccount=1."""
    assert knob("memory_swap_max").supported("v1", {"memory.limit_in_bytes", "memory.memsw.limit_in_bytes"})
    assert not knob("memory_swap_max").supported("v1", {"memory.limit_in_bytes"})
    assert not knob("cpu_qos_level").supported("v2", {"cpu.qos_level"})


@pytest.mark.parametrize(
    ("name", "mode", "version", "in_systemd"),
    [
        ("cpu_weight", "v1", 239, True),
        ("cpu_weight", "v2", 231, False),
        ("cpu_idle", "v2", 251, False),
        ("cpu_idle", "v2", 252, True),
        ("cpu_idle", "v1", 257, False),
        ("cpuset_cpus", "v1", 257, False),
        ("cpuset_cpus", "v2", 244, True),
        ("io_max", "v1", 257, False),
        ("memory_swap_max", "v1", 257, False),
        ("memory_oom_group", "v2", 257, False),
        ("cpu_burst", "v2", 262, False),
    ],
)
def test_systemd_writes_the_knobs_of_its_version(name: str, mode: str, version: int, in_systemd: bool) -> None:
    assert knob(name).in_systemd(mode, version) is in_systemd
