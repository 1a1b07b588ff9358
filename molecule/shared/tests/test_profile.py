# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The QoS profile as the kernel has it. None of this collection's code is asked."""

from __future__ import annotations

import re
from typing import Any

import pytest

PAGE = 4096
CLASSES = {
    "systemd": {
        "besteffort": "kubepods.slice/kubepods-besteffort.slice",
        "burstable": "kubepods.slice/kubepods-burstable.slice",
        "guaranteed": "kubepods.slice",
    },
    "cgroupfs": {"besteffort": "kubepods/besteffort", "burstable": "kubepods/burstable", "guaranteed": "kubepods"},
}
QUOTA = 90000
"""Microseconds of 100000: 60 % of two CPUs less the half one that is reserved."""
SYSTEM = {"v2": ("cpu.weight", "20"), "v1": ("cpu.shares", "512")}
"""What kubelet computes of 500m, MilliCPUToShares and cpuSharesToCPUWeight."""


@pytest.fixture(name="wanted")
def _wanted(host: Any) -> dict[str, Any]:
    variables: dict[str, Any] = host.ansible.get_variables()
    return variables


@pytest.fixture(name="version")
def _version(wanted: dict[str, Any]) -> str:
    return str(wanted["inventory_hostname"])[:2]


@pytest.fixture(name="memory")
def _memory(host: Any) -> int:
    """Bytes."""
    found = re.search(r"MemTotal:\s+(\d+) kB", host.check_output("cat /proc/meminfo"))
    assert found
    return int(found[1]) * 1024


def kernel(host: Any, version: str, controller: str, cgroup: str, name: str) -> str:
    root = "/sys/fs/cgroup" if version == "v2" else f"/sys/fs/cgroup/{controller}"
    return str(host.check_output(f"cat {root}/{cgroup}/{name}"))


def part(memory: int, percent: int) -> str:
    return str(memory * percent // 100 // PAGE * PAGE)


def test_best_effort_pods_are_capped(host: Any, wanted: dict[str, Any], version: str) -> None:
    cgroup = CLASSES[wanted["colocation_cgroup_driver"]]["besteffort"]
    if version == "v2":
        assert kernel(host, version, "cpu", cgroup, "cpu.max") == f"{QUOTA} 100000"
    else:
        assert kernel(host, version, "cpu", cgroup, "cpu.cfs_quota_us") == str(QUOTA)
        assert kernel(host, version, "cpu", cgroup, "cpu.cfs_period_us") == "100000"
    assert kernel(host, version, "pids", cgroup, "pids.max") == "3000"


def test_best_effort_pods_are_throttled_before_they_are_killed(
    host: Any, wanted: dict[str, Any], version: str, memory: int
) -> None:
    cgroup = CLASSES[wanted["colocation_cgroup_driver"]]["besteffort"]
    limit = "memory.max" if version == "v2" else "memory.limit_in_bytes"
    assert kernel(host, version, "memory", cgroup, limit) == part(memory, 90)
    if version == "v2":
        assert kernel(host, version, "memory", cgroup, "memory.high") == part(memory, 80)


def test_memory_of_pods_with_requests_is_protected(
    host: Any, wanted: dict[str, Any], version: str, memory: int
) -> None:
    for name in ("guaranteed", "burstable") if version == "v2" else ():
        cgroup = CLASSES[wanted["colocation_cgroup_driver"]][name]
        assert kernel(host, version, "memory", cgroup, "memory.low") == part(memory, 50), name


def test_the_system_has_the_weight_of_what_is_reserved_for_it(host: Any, version: str) -> None:
    name, weight = SYSTEM[version]
    assert kernel(host, version, "cpu", "system.slice", name) == weight
