# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values in kernel files and systemd properties, with the rounding of both."""

from __future__ import annotations

from typing import Any, Dict

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.errors import ColocationError
from ansible_collections.volcano.colocation.plugins.module_utils.settings.codec import (
    Backend,
    from_properties,
    merge_properties,
    parse_texts,
    render_texts,
    rounded_value,
    to_properties,
)
from ansible_collections.volcano.colocation.plugins.module_utils.settings.registry import KNOBS, knob
from ansible_collections.volcano.colocation.plugins.module_utils.systemd.dbus_values import INFINITY, Property

Texts = Dict[str, str]

NO_QUOTA: Texts = {"cpu.cfs_quota_us": "-1\n", "cpu.cfs_period_us": "100000\n"}
HALF: Texts = {"cpu.cfs_quota_us": "50000\n", "cpu.cfs_period_us": "100000\n"}
V1_MEMORY: Texts = {
    "memory.memsw.limit_in_bytes": "9223372036854771712\n",
    "memory.limit_in_bytes": "1073741824\n",
}

WRITTEN = [
    ("cpu_weight", 200, "v1", {}, {"cpu.shares": "2048"}),
    ("cpu_weight", 200, "v2", {}, {"cpu.weight": "200"}),
    ("cpu_weight", None, "v2", {}, {"cpu.weight": "100"}),
    ("cpu_idle", True, "v1", {}, {"cpu.idle": "1"}),
    ("cpu_idle", False, "v2", {}, {"cpu.idle": "0"}),
    ("cpu_quota", 2500000, "v2", {"cpu.max": "max 100000\n"}, {"cpu.max": "250000 100000"}),
    ("cpu_quota", 2500000, "v2", {"cpu.max": "max 50000\n"}, {"cpu.max": "125000 50000"}),
    ("cpu_quota", None, "v2", {"cpu.max": "10000 50000\n"}, {"cpu.max": "max 50000"}),
    ("cpu_quota", 10000, "v2", {"cpu.max": "max 50000\n"}, {"cpu.max": "1000 50000"}),  # 500 is below the minimum
    ("cpu_quota", 2500000, "v1", NO_QUOTA, {"cpu.cfs_quota_us": "250000"}),
    ("cpu_quota", None, "v1", HALF, {"cpu.cfs_quota_us": "-1"}),
    ("cpu_period", 50000, "v2", {"cpu.max": "250000 100000\n"}, {"cpu.max": "125000 50000"}),
    ("cpu_period", 50000, "v2", {"cpu.max": "max 100000\n"}, {"cpu.max": "max 50000"}),
    ("cpu_period", 50000, "v1", HALF, {"cpu.cfs_period_us": "50000", "cpu.cfs_quota_us": "25000"}),
    ("cpu_period", 50000, "v1", NO_QUOTA, {"cpu.cfs_period_us": "50000", "cpu.cfs_quota_us": "-1"}),
    ("cpu_burst", 20000, "v1", {}, {"cpu.cfs_burst_us": "20000"}),
    ("cpu_burst", 20000, "v2", {}, {"cpu.max.burst": "20000"}),
    ("cpuset_cpus", (0, 1, 2, 8), "v1", {}, {"cpuset.cpus": "0-2,8"}),
    ("cpuset_cpus", (), "v2", {}, {"cpuset.cpus": "\n"}),
    ("cpuset_mems", (1,), "v2", {}, {"cpuset.mems": "1"}),
    ("cpuset_partition", "root", "v2", {}, {"cpuset.cpus.partition": "root"}),
    ("memory_min", 4096, "v2", {}, {"memory.min": "4096"}),
    ("memory_low", None, "v2", {}, {"memory.low": "max"}),
    ("memory_high", 4294967296, "v2", {}, {"memory.high": "4294967296"}),
    ("memory_high", None, "v1", {}, {"memory.high": "max"}),
    ("memory_max", None, "v2", {}, {"memory.max": "max"}),
    ("memory_max", None, "v1", {}, {"memory.limit_in_bytes": "-1"}),
    ("memory_swap_max", 4096, "v2", {}, {"memory.swap.max": "4096"}),
    ("memory_swap_max", 4096, "v1", V1_MEMORY, {"memory.memsw.limit_in_bytes": "1073745920"}),
    ("memory_swap_max", None, "v1", V1_MEMORY, {"memory.memsw.limit_in_bytes": "-1"}),
    ("memory_oom_group", True, "v2", {}, {"memory.oom.group": "1"}),
    ("pids_max", 512, "v1", {}, {"pids.max": "512"}),
    ("pids_max", None, "v2", {}, {"pids.max": "max"}),
    ("io_weight", 500, "v2", {"io.weight": "default 100\n"}, {"io.weight": "default 500"}),
    ("io_weight", 1000, "v2", {"io.bfq.weight": "default 100\n"}, {"io.bfq.weight": "181"}),
    ("io_weight", 50, "v1", {"blkio.bfq.weight": "100\n"}, {"blkio.bfq.weight": "50"}),
    ("io_weight", 50, "v1", {"blkio.weight": "500\n"}, {"blkio.weight": "250"}),
    ("cpu_qos_level", -1, "v1", {}, {"cpu.qos_level": "-1"}),
    ("memory_qos_level", -1, "v1", {}, {"memory.qos_level": "-1"}),
    ("cpu_bvt_warp_ns", 2, "v2", {}, {"cpu.bvt_warp_ns": "2"}),
    ("hugetlb_2MB_max", 2097152, "v2", {}, {"hugetlb.2MB.max": "2097152"}),
    ("hugetlb_1GB_max", None, "v1", {}, {"hugetlb.1GB.limit_in_bytes": "-1"}),
    (
        "io_max",
        (("8:0", (("rbps", 1048576), ("wiops", 100))),),
        "v2",
        {"io.max": "8:16 rbps=max wbps=500 riops=max wiops=max\n"},
        {"io.max": "8:0 rbps=1048576 wbps=max riops=max wiops=100\n8:16 rbps=max wbps=max riops=max wiops=max"},
    ),
    (
        "io_max",
        (("8:0", (("rbps", 1048576),)),),
        "v1",
        {"blkio.throttle.write_bps_device": "8:0 500\n8:16 7\n"},
        {
            "blkio.throttle.read_bps_device": "8:0 1048576",
            "blkio.throttle.write_bps_device": "8:0 0\n8:16 0",
        },
    ),
]


@pytest.mark.parametrize(("name", "value", "mode", "current", "written"), WRITTEN)
def test_a_value_is_rendered(name: str, value: Any, mode: str, current: Texts, written: Texts) -> None:
    result = render_texts(knob(name), value, mode, current)
    assert result == written
    assert list(result) == list(written)


READ = [
    ("cpu_weight", "v1", {"cpu.shares": "1024\n"}, 100),
    ("cpu_weight", "v2", {"cpu.weight": "39\n"}, 39),
    ("cpu_idle", "v2", {"cpu.idle": "1\n"}, True),
    ("cpu_quota", "v2", {"cpu.max": "max 100000\n"}, None),
    ("cpu_quota", "v2", {"cpu.max": "150000 100000\n"}, 1500000),
    ("cpu_quota", "v1", HALF, 500000),
    ("cpu_quota", "v1", NO_QUOTA, None),
    ("cpu_period", "v2", {"cpu.max": "150000 100000\n"}, 100000),
    ("cpu_period", "v1", HALF, 100000),
    ("cpu_burst", "v2", {"cpu.max.burst": "0\n"}, 0),
    ("cpuset_cpus", "v2", {"cpuset.cpus": "0-1,4\n"}, (0, 1, 4)),
    ("cpuset_cpus", "v2", {"cpuset.cpus": "\n"}, ()),
    (
        "cpuset_partition",
        "v2",
        {"cpuset.cpus.partition": "root invalid (Cpu list in cpuset.cpus not exclusive)\n"},
        "root invalid (Cpu list in cpuset.cpus not exclusive)",
    ),
    ("memory_high", "v2", {"memory.high": "max\n"}, None),
    ("memory_max", "v1", {"memory.limit_in_bytes": "9223372036854771712\n"}, None),
    ("memory_max", "v1", {"memory.limit_in_bytes": "4096\n"}, 4096),
    ("memory_swap_max", "v1", V1_MEMORY, None),
    (
        "memory_swap_max",
        "v1",
        {"memory.memsw.limit_in_bytes": "1073745920\n", "memory.limit_in_bytes": "1073741824\n"},
        4096,
    ),
    ("pids_max", "v2", {"pids.max": "max\n"}, None),
    ("io_weight", "v2", {"io.weight": "default 500\n8:0 200\n"}, 500),
    ("io_weight", "v2", {"io.bfq.weight": "default 100\n", "io.weight": "default 500\n"}, 500),
    ("io_weight", "v2", {"io.bfq.weight": "default 181\n"}, 991),
    ("io_weight", "v1", {"blkio.bfq.weight": "100\n"}, 100),
    ("io_weight", "v1", {"blkio.weight": "500\n"}, 100),
    ("cpu_qos_level", "v1", {"cpu.qos_level": "-1\n"}, -1),
    ("hugetlb_2MB_max", "v1", {"hugetlb.2MB.limit_in_bytes": "9223372036852678656\n"}, None),
    (
        "io_max",
        "v2",
        {"io.max": "8:16 rbps=max wbps=max riops=5 wiops=max\n8:0 rbps=1048576 wbps=max riops=max wiops=100\n"},
        (("8:0", (("rbps", 1048576), ("wiops", 100))), ("8:16", (("riops", 5),))),
    ),
    (
        "io_max",
        "v1",
        {"blkio.throttle.read_bps_device": "8:0 7\n", "blkio.throttle.write_iops_device": "8:0 9\n"},
        (("8:0", (("rbps", 7), ("wiops", 9))),),
    ),
]


@pytest.mark.parametrize(("name", "mode", "current", "value"), READ)
def test_a_file_is_parsed(name: str, mode: str, current: Texts, value: Any) -> None:
    result = parse_texts(knob(name), mode, current)
    assert result == value
    assert type(result) is type(value)


@pytest.mark.parametrize(
    ("name", "mode", "current", "what"),
    [
        ("cpu_idle", "v2", {}, "cpu_idle: cpu.idle of the cgroup was not read"),
        ("io_weight", "v2", {}, "io_weight: the cgroup has none of io.weight, io.bfq.weight"),
        ("cpuset_partition", "v1", {}, "cpuset_partition: the kernel does not have this setting on cgroup v1"),
        ("cpu_quota", "v1", {"cpu.cfs_quota_us": "5"}, "cpu.cfs_period_us of the cgroup was not read"),
        ("memory_max", "v2", {"memory.max": "lots\n"}, "memory_max: the kernel does not write this: memory.max 'lots'"),
        ("cpu_quota", "v2", {"cpu.max": "\n"}, "cpu_quota: the kernel does not write this: cpu.max ''"),
    ],
)
def test_an_error_names_a_value_that_cannot_be_parsed(name: str, mode: str, current: Texts, what: str) -> None:
    with pytest.raises(ColocationError) as caught:
        parse_texts(knob(name), mode, current)
    assert what in caught.value.message


def test_nothing_is_rendered_without_a_file_that_is_needed() -> None:
    """A period alone would remove the quota: cpu.max holds both."""
    with pytest.raises(ColocationError, match=r"cpu\.max of the cgroup was not read"):
        render_texts(knob("cpu_period"), 50000, "v2", {})


def test_nothing_is_computed_from_an_invalid_value() -> None:
    with pytest.raises(ColocationError, match=r"cpu_period: the kernel does not write this: cpu\.max '5'"):
        render_texts(knob("cpu_period"), 50000, "v2", {"cpu.max": "5\n"})


def test_a_swap_limit_on_v1_needs_a_memory_limit() -> None:
    unlimited = {"memory.memsw.limit_in_bytes": "-1", "memory.limit_in_bytes": "9223372036854771712"}
    with pytest.raises(ColocationError, match="Set memory_max as well"):
        render_texts(knob("memory_swap_max"), 4096, "v1", unlimited)


PROPERTIES = [
    ("cpu_weight", 200, (Property("CPUWeight", "t", 200),)),
    ("cpu_weight", None, (Property("CPUWeight", "t", INFINITY),)),
    ("cpu_idle", True, (Property("CPUWeight", "t", 0),)),
    ("cpu_idle", False, (Property("CPUWeight", "t", INFINITY),)),
    ("cpu_quota", 2500000, (Property("CPUQuotaPerSecUSec", "t", 2500000),)),
    ("cpu_quota", 2500001, (Property("CPUQuotaPerSecUSec", "t", 2510000),)),
    ("cpu_quota", None, (Property("CPUQuotaPerSecUSec", "t", INFINITY),)),
    ("cpu_period", 50000, (Property("CPUQuotaPeriodUSec", "t", 50000),)),
    ("cpuset_cpus", (0, 1, 8), (Property("AllowedCPUs", "ay", b"\x03\x01"),)),
    ("cpuset_cpus", (), (Property("AllowedCPUs", "ay", b""),)),
    ("cpuset_mems", (1,), (Property("AllowedMemoryNodes", "ay", b"\x02"),)),
    ("cpuset_partition", "isolated", (Property("CPUSetPartition", "s", "isolated"),)),
    ("memory_low", 0, (Property("MemoryLow", "t", 0),)),
    ("memory_max", 12345, (Property("MemoryMax", "t", 12345),)),
    ("pids_max", None, (Property("TasksMax", "t", INFINITY),)),
    ("io_weight", 50, (Property("IOWeight", "t", 50),)),
    (
        "io_max",
        (("8:0", (("rbps", 7), ("wiops", 9))),),
        (
            Property("IOReadBandwidthMax", "a(st)", ()),
            Property("IOReadBandwidthMax", "a(st)", (("/dev/block/8:0", 7),)),
            Property("IOWriteBandwidthMax", "a(st)", ()),
            Property("IOReadIOPSMax", "a(st)", ()),
            Property("IOWriteIOPSMax", "a(st)", ()),
            Property("IOWriteIOPSMax", "a(st)", (("/dev/block/8:0", 9),)),
        ),
    ),
]


@pytest.mark.parametrize(("name", "value", "properties"), PROPERTIES)
def test_properties_of_a_value(name: str, value: Any, properties: Any) -> None:
    assert to_properties(knob(name), value) == properties


REPORTED = [
    ("cpu_weight", {"CPUWeight": INFINITY}, None),
    ("cpu_weight", {"CPUWeight": 39}, 39),
    ("cpu_idle", {"CPUWeight": 0}, True),
    ("cpu_idle", {"CPUWeight": 1}, False),
    ("cpu_idle", {"CPUWeight": INFINITY}, False),
    ("cpu_quota", {"CPUQuotaPerSecUSec": 1500000}, 1500000),
    ("cpu_quota", {"CPUQuotaPerSecUSec": INFINITY}, None),
    ("cpuset_cpus", {"AllowedCPUs": b"\x03\x01"}, (0, 1, 8)),
    ("cpuset_cpus", {"AllowedCPUs": b""}, ()),
    ("memory_high", {"MemoryHigh": INFINITY}, None),
    (
        "io_max",
        {
            "IOReadBandwidthMax": (("/dev/block/8:0", 7), ("/dev/vda", INFINITY)),
            "IOWriteBandwidthMax": (("/dev/vdb", 5),),
            "IOReadIOPSMax": (),
            "IOWriteIOPSMax": (),
        },
        (("/dev/vdb", (("wbps", 5),)), ("8:0", (("rbps", 7),))),
    ),
]


@pytest.mark.parametrize(("name", "values", "value"), REPORTED)
def test_a_property_of_systemd_is_parsed(name: str, values: dict[str, Any], value: Any) -> None:
    assert from_properties(knob(name), values) == value


def test_an_error_names_a_missing_property_of_systemd() -> None:
    with pytest.raises(ColocationError, match="cpu_weight: systemd does not report CPUWeight"):
        from_properties(knob("cpu_weight"), {})


def test_an_error_names_a_knob_without_a_property() -> None:
    with pytest.raises(ColocationError, match="cpu_burst: systemd has no property for this setting"):
        to_properties(knob("cpu_burst"), 0)


SETTLED = [
    ("cpu_weight", 50, "v1", Backend.FILE, {}, 50),
    ("cpu_quota", 123456, "v2", Backend.FILE, {"cpu.max": "max 100000"}, 123450),  # 12345 of 100000
    ("cpu_quota", 123456, "v2", Backend.DBUS, {}, 130000),
    ("cpu_quota", 130000, "v2", Backend.DBUS, {}, 130000),
    ("cpu_quota", 130000, "v2", Backend.FILE, {"cpu.max": "max 3000"}, 333334),  # the minimum, 1000 of 3000
    ("cpu_quota", None, "v2", Backend.DBUS, {}, None),
    ("memory_max", 12345, "v2", Backend.FILE, {}, 12288),
    ("memory_max", 12345, "v2", Backend.DBUS, {}, 12345),
    ("memory_max", None, "v1", Backend.FILE, {}, None),
    ("memory_swap_max", 5000, "v1", Backend.FILE, V1_MEMORY, 4096),
    ("hugetlb_2MB_max", 5000000, "v2", Backend.FILE, {}, 4194304),
    ("io_weight", 1000, "v2", Backend.FILE, {"io.bfq.weight": "default 100"}, 991),  # 181 is 991 to 1001
    ("io_weight", 1000, "v2", Backend.FILE, {"io.weight": "default 100"}, 1000),
    ("io_weight", 5000, "v1", Backend.FILE, {"blkio.weight": "500"}, 200),
]


@pytest.mark.parametrize(("name", "value", "mode", "backend", "current", "rounded"), SETTLED)
def test_a_value_is_rounded_as_the_kernel_or_systemd_rounds_it(
    name: str, value: Any, mode: str, backend: Backend, current: Texts, rounded: Any
) -> None:
    assert rounded_value(knob(name), value, mode, backend, current) == rounded


def test_the_page_size_of_the_node_is_used() -> None:
    assert rounded_value(knob("memory_high"), 100000, "v2", Backend.FILE, {}, page=65536) == 65536


def test_idle_and_weight_share_a_property() -> None:
    back = merge_properties({"cpu_idle": False, "cpu_weight": 300}, KNOBS)
    assert back == (Property("CPUWeight", "t", 300),)
    assert merge_properties({"cpu_idle": False}, KNOBS) == (Property("CPUWeight", "t", INFINITY),)
    assert merge_properties({"cpu_idle": True, "memory_low": 0}, KNOBS) == (
        Property("CPUWeight", "t", 0),
        Property("MemoryLow", "t", 0),
    )
