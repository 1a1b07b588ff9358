# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The registry of knobs: one row for each knob.

Files and ranges: kernel Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/*.rst, kernel/sched/core.c and
kernel/cgroup/pids.c.
Properties, their versions and which of them systemd applies on cgroup v1: systemd man/systemd.resource-control.xml,
man/org.freedesktop.systemd1.xml and src/core/cgroup.c cgroup_context_apply. option_values.py has the units, codec.py
the formats of the files. docs/qos.md documents this table.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Mapping

from ..errors import ColocationError
from .device_limits import PROPERTIES, THROTTLE_FILES, THROTTLE_FORMS
from .knob import Form, Interface, KernelFile, Kind, Knob, UnitProperty

SIZED = "hugetlb_<size>_max"
"""The only knob with a size in its name, for example hugetlb_2MB_max."""

_SIZED_NAME = re.compile(r"hugetlb_([1-9][0-9]*)(KB|MB|GB)_max")
_UNITS = {"KB": 2**10, "MB": 2**20, "GB": 2**30}
"""The kernel's units of sizes: mm/hugetlb_cgroup.c mem_fmt."""
_LARGEST = 2**63 - 1
_DEFAULT_PERIOD = 100000
_ANOLIS = "on v1 with Anolis kernels only"


def _one_file(controller: str, name: str, form: Form) -> Interface:
    return Interface(controller, (KernelFile(name, form),))


def _two_files(controller: str, first: KernelFile, second: KernelFile) -> Interface:
    return Interface(controller, (first, second))


def _property(name: str, signature: str, since: int) -> UnitProperty:
    return UnitProperty((name,), signature, since)


def _property_on_both(name: str, signature: str, since: int) -> UnitProperty:
    return UnitProperty((name,), signature, since, on_v1=True)


_MEMORY = Knob("", Kind.BYTES, "bytes", minimum=0, maximum=_LARGEST, unlimited=True)
_LIST = Knob("", Kind.CPUS, "list", minimum=0, maximum=65535, default=())
_NUMBER = Knob("", Kind.INTEGER, "number", default=0)

_ROWS = (
    Knob(
        "cpu_weight",
        Kind.INTEGER,
        "weight",
        minimum=1,
        maximum=10000,
        default=100,
        v1=_one_file("cpu", "cpu.shares", Form.SHARES),
        v2=_one_file("cpu", "cpu.weight", Form.WEIGHT),
        unit_property=_property_on_both("CPUWeight", "t", 232),
    ),
    Knob(
        "cpu_idle",
        Kind.BOOLEAN,
        "true or false",
        default=False,
        # kernel/sched/fair.c sched_group_set_idle: after idle, the weight is the default.
        v1=_two_files("cpu", KernelFile("cpu.idle", Form.FLAG), KernelFile("cpu.shares", Form.RESET)),
        v2=_two_files("cpu", KernelFile("cpu.idle", Form.FLAG), KernelFile("cpu.weight", Form.RESET)),
        unit_property=_property("CPUWeight", "t", 252),  # src/core/cgroup.c CGROUP_WEIGHT_IDLE, a weight of 0
        note="kernel 5.15; replaces cpu_weight, which is written again afterwards",
    ),
    Knob(
        "cpu_period",
        Kind.MICROSECONDS,
        "microseconds",
        minimum=1000,
        maximum=1000000,
        default=_DEFAULT_PERIOD,
        v1=_two_files(
            "cpu", KernelFile("cpu.cfs_period_us", Form.NUMBER), KernelFile("cpu.cfs_quota_us", Form.CFS_RATE)
        ),
        v2=_one_file("cpu", "cpu.max", Form.CPU_MAX_PERIOD),
        unit_property=_property_on_both("CPUQuotaPeriodUSec", "t", 242),
        note="a quota keeps its share of a CPU when the period changes",
    ),
    Knob(
        "cpu_quota",
        Kind.CPU_TIME,
        "CPUs",
        minimum=1000,
        maximum=8192 * 1000000,  # the maximum of CONFIG_NR_CPUS
        unlimited=True,
        v1=_two_files(
            "cpu", KernelFile("cpu.cfs_quota_us", Form.CFS_QUOTA), KernelFile("cpu.cfs_period_us", Form.READ_ONLY)
        ),
        v2=_one_file("cpu", "cpu.max", Form.CPU_MAX),
        unit_property=_property_on_both("CPUQuotaPerSecUSec", "t", 213),
        note="at least 1000 microseconds in a period",
    ),
    Knob(
        "cpu_burst",
        Kind.MICROSECONDS,
        "microseconds",
        minimum=0,
        maximum=8192 * 1000000,
        default=0,
        v1=_one_file("cpu", "cpu.cfs_burst_us", Form.NUMBER),
        v2=_one_file("cpu", "cpu.max.burst", Form.NUMBER),
        note="kernel 5.14; not more than the quota of a period",
    ),
    replace(
        _LIST,
        name="cpuset_cpus",
        unit="CPUs",
        v1=_one_file("cpuset", "cpuset.cpus", Form.LIST),
        v2=_one_file("cpuset", "cpuset.cpus", Form.LIST),
        unit_property=_property("AllowedCPUs", "ay", 244),
    ),
    replace(
        _LIST,
        name="cpuset_mems",
        unit="memory nodes",
        v1=_one_file("cpuset", "cpuset.mems", Form.LIST),
        v2=_one_file("cpuset", "cpuset.mems", Form.LIST),
        unit_property=_property("AllowedMemoryNodes", "ay", 244),
    ),
    Knob(
        "cpuset_partition",
        Kind.CHOICE,
        "word",
        default="member",
        choices=("member", "root", "isolated"),
        v2=_one_file("cpuset", "cpuset.cpus.partition", Form.WORD),
        unit_property=_property("CPUSetPartition", "s", 261),
    ),
    replace(
        _MEMORY,
        name="memory_min",
        default=0,
        v1=_one_file("memory", "memory.min", Form.MAX),
        v2=_one_file("memory", "memory.min", Form.MAX),
        unit_property=_property("MemoryMin", "t", 240),
        note=_ANOLIS,
    ),
    replace(
        _MEMORY,
        name="memory_low",
        default=0,
        v1=_one_file("memory", "memory.low", Form.MAX),
        v2=_one_file("memory", "memory.low", Form.MAX),
        unit_property=_property("MemoryLow", "t", 231),
        note=_ANOLIS,
    ),
    replace(
        _MEMORY,
        name="memory_high",
        minimum=4096,
        v1=_one_file("memory", "memory.high", Form.MAX),
        v2=_one_file("memory", "memory.high", Form.MAX),
        unit_property=_property("MemoryHigh", "t", 231),
        note=_ANOLIS,
    ),
    replace(
        _MEMORY,
        name="memory_max",
        minimum=4096,
        v1=_one_file("memory", "memory.limit_in_bytes", Form.MINUS_ONE),
        v2=_one_file("memory", "memory.max", Form.MAX),
        unit_property=_property_on_both("MemoryMax", "t", 231),
    ),
    replace(
        _MEMORY,
        name="memory_swap_max",
        v1=_two_files(
            "memory",
            KernelFile("memory.memsw.limit_in_bytes", Form.MEMSW),
            KernelFile("memory.limit_in_bytes", Form.READ_ONLY),
        ),
        v2=_one_file("memory", "memory.swap.max", Form.MAX),
        unit_property=_property("MemorySwapMax", "t", 232),
        note="on v1 together with memory_max, and with swapaccount=1",
    ),
    Knob(
        "memory_oom_group",
        Kind.BOOLEAN,
        "true or false",
        default=False,
        v2=_one_file("memory", "memory.oom.group", Form.FLAG),
        overwritten_since=243,  # src/core/cgroup.c: from the OOM policy, which slices do not have
        note="systemd resets it on slices and scopes whenever it realizes the unit",
    ),
    replace(
        _NUMBER,
        name="pids_max",
        unit="tasks",
        minimum=1,
        maximum=4194304,
        unlimited=True,
        default=None,
        v1=_one_file("pids", "pids.max", Form.MAX),
        v2=_one_file("pids", "pids.max", Form.MAX),
        unit_property=_property_on_both("TasksMax", "t", 227),
    ),
    replace(
        _NUMBER,
        name="io_weight",
        unit="weight",
        minimum=1,
        maximum=10000,
        default=100,
        v1=Interface(
            "blkio",
            (KernelFile("blkio.bfq.weight", Form.BFQ_WEIGHT), KernelFile("blkio.weight", Form.BLKIO_WEIGHT)),
            any_of=True,
        ),
        v2=Interface(
            "io",
            (KernelFile("io.weight", Form.DEFAULT_WEIGHT), KernelFile("io.bfq.weight", Form.BFQ_WEIGHT)),
            any_of=True,
        ),
        unit_property=_property_on_both("IOWeight", "t", 230),
        note="needs the BFQ scheduler, or io.cost on the device",
    ),
    Knob(
        "io_max",
        Kind.DEVICES,
        "bytes or operations a second, by device",
        minimum=1,
        maximum=_LARGEST,
        default=(),
        v1=Interface("blkio", tuple(KernelFile(THROTTLE_FILES[kind], form) for form, kind in THROTTLE_FORMS.items())),
        v2=_one_file("io", "io.max", Form.IO_MAX),
        # Not on v1: src/core/cgroup.c cgroup_apply_blkio_device_limit does not apply the limits of operations.
        unit_property=UnitProperty(tuple(PROPERTIES.values()), "a(st)", 230),
    ),
    replace(
        _NUMBER,
        name="cpu_qos_level",
        unit="level",
        minimum=-2,
        maximum=2,
        v1=_one_file("cpu", "cpu.qos_level", Form.NUMBER),
        note="openEuler: 0 or -1, and from -2 to 2 with CONFIG_QOS_SCHED_MULTILEVEL; an offline cgroup stays offline",
    ),
    replace(
        _NUMBER,
        name="memory_qos_level",
        unit="level",
        minimum=-1024,
        maximum=1023,
        v1=_one_file("memory", "memory.qos_level", Form.NUMBER),
        note="openEuler: 0 or -1, Huawei Cloud EulerOS: all; with vm.memcg_qos_enable",
    ),
    replace(
        _NUMBER,
        name="cpu_bvt_warp_ns",
        unit="level",
        minimum=-1,
        maximum=2,
        v1=_one_file("cpu", "cpu.bvt_warp_ns", Form.NUMBER),
        v2=_one_file("cpu", "cpu.bvt_warp_ns", Form.NUMBER),
        note="Anolis, Alibaba Cloud Linux; with kernel.sched_group_identity_enabled where the kernel has it",
    ),
    replace(
        _MEMORY,
        name=SIZED,
        v1=_one_file("hugetlb", "hugetlb.<size>.limit_in_bytes", Form.MINUS_ONE),
        v2=_one_file("hugetlb", "hugetlb.<size>.max", Form.MAX),
        note="rounded down to whole huge pages",
    ),
)

KNOBS: Mapping[str, Knob] = {row.name: row for row in _ROWS}


def knob(name: str) -> Knob:
    """The row of a knob. ColocationError for an unknown name lists the known ones."""
    sized = _SIZED_NAME.fullmatch(name)
    if sized:
        return _of_size(int(sized.group(1)), sized.group(2))
    if name in KNOBS and name != SIZED:
        return KNOBS[name]
    raise ColocationError(
        "%r is not a setting of a cgroup" % (name,), "Use one of %s. docs/qos.md describes them" % ", ".join(KNOBS)
    )


def _of_size(count: int, unit: str) -> Knob:
    size = "%d%s" % (count, unit)

    def named(interface: Interface | None) -> Interface | None:
        if interface is None:
            return None
        files = tuple(replace(file, name=file.name.replace("<size>", size)) for file in interface.files)
        return replace(interface, files=files)

    row = KNOBS[SIZED]
    return replace(
        row,
        name=row.name.replace("<size>", size),
        v1=named(row.v1),
        v2=named(row.v2),
        granule=count * _UNITS[unit],
    )
