# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The QoS profile in the kernel at each moment, checked without code of this collection."""

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
"""Microseconds of 100000: 60 % of the two CPUs minus the reserved half CPU."""
SYSTEM = {"v2": ("cpu.weight", "20"), "v1": ("cpu.shares", "512")}
"""kubelet's values for 500m, MilliCPUToShares and getCPUWeight."""
PODS = {"v2": "59", "v1": "1536"}
"""kubelet's values for the other 1500m."""

Values = dict[str, dict[str, str]]
"""{QoS class: {file: value}}"""


@pytest.fixture(name="values")
def _values(evidence: dict[str, Any], driver: str) -> Values:
    return {name: evidence["levels"][cgroup] for name, cgroup in CLASSES[driver].items()}


@pytest.fixture(name="memory")
def _memory(evidence: dict[str, Any]) -> int:
    """Bytes."""
    match = re.search(r"MemTotal:\s+(\d+) kB", evidence["memory"])
    assert match
    return int(match[1]) * 1024


def part(memory: int, percent: int) -> str:
    return str(memory * percent // 100 // PAGE * PAGE)


def test_best_effort_pods_are_capped(values: Values, version: str) -> None:
    if version == "v2":
        assert values["besteffort"]["cpu.max"] == f"{QUOTA} 100000"
    else:
        assert values["besteffort"]["cpu.cfs_quota_us"] == str(QUOTA)
        assert values["besteffort"]["cpu.cfs_period_us"] == "100000"
    assert values["besteffort"]["pids.max"] == "3000"


def test_best_effort_pods_are_throttled_before_they_are_killed(values: Values, version: str, memory: int) -> None:
    limit = "memory.max" if version == "v2" else "memory.limit_in_bytes"
    assert values["besteffort"][limit] == part(memory, 90)
    if version == "v2":
        assert values["besteffort"]["memory.high"] == part(memory, 80)


@pytest.mark.parametrize("name", ["guaranteed", "burstable"])
def test_memory_of_pods_with_requests_is_protected(values: Values, version: str, memory: int, name: str) -> None:
    """On v1 the kernel has no file for it."""
    assert values[name].get("memory.low") == (part(memory, 50) if version == "v2" else None)


def test_the_system_has_the_weight_of_what_is_reserved_for_it(
    evidence: dict[str, Any], values: Values, version: str
) -> None:
    """Beside that of the pods, which kubelet itself wrote by the same formula."""
    name, weight = SYSTEM[version]
    assert evidence["levels"]["system.slice"][name] == weight
    assert values["guaranteed"][name] == PODS[version]
