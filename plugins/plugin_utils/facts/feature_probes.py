# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which file of a cgroup shows that the kernel has a feature. By files: distributions carry features back.

Sources: Linux Documentation/admin-guide/cgroup-v2.rst; openEuler kernel/sched/core.c and mm/memcontrol.c (qos_level);
Koordinator pkg/koordlet/util/system/cgroup_resource.go (bvt_warp_ns).
"""

from __future__ import annotations

CPU = ("cpu", ("cpu.shares", "cpu.weight"))
MEMORY = ("memory", ("memory.limit_in_bytes", "memory.max"))
IO = ("io", ("blkio.throttle.read_bps_device", "io.max"))
CPUSET = ("cpuset", ("cpuset.cpus",))
"""A controller, and the file that says that it is enabled in the probed cgroup: without it nothing can be told."""

IN_CGROUPS = (
    ("cpu_idle", CPU, ("cpu.idle",)),
    ("cpu_burst", CPU, ("cpu.max.burst", "cpu.cfs_burst_us")),
    ("cpu_qos_level", CPU, ("cpu.qos_level",)),
    ("cpu_bvt", CPU, ("cpu.bvt_warp_ns",)),
    ("memory_min", MEMORY, ("memory.min",)),
    ("memory_low", MEMORY, ("memory.low",)),
    ("memory_high", MEMORY, ("memory.high",)),
    ("memory_oom_group", MEMORY, ("memory.oom.group",)),
    ("memory_qos_level", MEMORY, ("memory.qos_level",)),
    ("io_weight", IO, ("io.weight", "io.bfq.weight", "blkio.weight", "blkio.bfq.weight")),
    ("cpuset_partition", CPUSET, ("cpuset.cpus.partition",)),
)
AT_THE_TOP = (("io_cost", "io", ("io.cost.qos", "blkio.cost.qos")),)
V1_NAMES = {"io": "blkio"}
