# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A file with another value than systemd's property is reported; unknown values are not guessed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.cgroup.hierarchy import Hierarchies
from ansible_collections.volcano.colocation.plugins.module_utils.host import Host
from ansible_collections.volcano.colocation.plugins.module_utils.slices.properties import parse_settings
from ansible_collections.volcano.colocation.plugins.module_utils.slices.property_knobs import kernel_differences
from ansible_collections.volcano.colocation.plugins.module_utils.slices.property_values import Machine

MACHINE = Machine(pages=1000001, page=4096, tasks=32768)
V2 = Hierarchies("v2", dict.fromkeys(("cpu", "memory", "pids"), "/sys/fs/cgroup"))
V1 = Hierarchies("v1", {name: f"/sys/fs/cgroup/{name}" for name in ("cpu", "memory", "pids")})


@pytest.mark.parametrize(
    ("tree", "properties", "file", "text", "expected"),
    [
        (V2, {"CPUWeight": 300}, "cpu.weight", "300", {}),
        (V2, {"CPUWeight": 300}, "cpu.weight", "50", {"CPUWeight": "50 (by the kernel)"}),
        # 300 * 1024 / 100: systemd src/core/cgroup.c
        (V1, {"CPUWeight": 300}, "cpu/cpu.shares", "3072", {}),
        (V1, {"CPUWeight": 300}, "cpu/cpu.shares", "1024", {"CPUWeight": "100 (by the kernel)"}),
        # The kernel keeps whole pages: cgroup-v2.rst
        (V2, {"MemoryHigh": "5000"}, "memory.high", "4096", {}),
        (V2, {"MemoryHigh": "5000"}, "memory.high", "max", {"MemoryHigh": "max (by the kernel)"}),
        (V2, {"CPUQuota": "150%"}, "cpu.max", "150000 100000", {}),
        (V2, {"CPUQuota": "150%"}, "cpu.max", "max 100000", {"CPUQuotaPerSecUSec": "max (by the kernel)"}),
        (V2, {"TasksMax": None}, "pids.max", "max", {}),
        (V2, {"TasksMax": None}, "pids.max", "5", {"TasksMax": "5 (by the kernel)"}),
        # The weight of idle and of systemd's default is not a single number.
        (V2, {"CPUWeight": "idle"}, "cpu.weight", "50", {}),
        (V2, {"CPUWeight": None}, "cpu.weight", "50", {}),
        # systemd has it on v2 only, and the controller is not enabled.
        (V1, {"MemoryHigh": "5000"}, "memory/memory.limit_in_bytes", "4096", {}),
        (V2, {"MemoryHigh": "5000"}, "cpu.weight", "50", {}),
    ],
)
def test_a_kernel_file_that_differs_from_systemd_is_reported(
    tmp_path: Path, tree: Hierarchies, properties: dict[str, Any], file: str, text: str, expected: dict[str, str]
) -> None:
    controller, _slash, name = file.rpartition("/")
    path = tmp_path / "sys/fs/cgroup" / controller / "a.slice" / name
    path.parent.mkdir(parents=True)
    path.write_text(text + "\n")
    settings = parse_settings(properties, MACHINE)
    unit = {"ControlGroup": "/a.slice", **{setting.value.name: setting.value.value for setting in settings}}
    assert kernel_differences(Host(str(tmp_path)), tree, unit, settings) == expected


def test_a_value_that_systemd_does_not_have_is_not_compared(tmp_path: Path) -> None:
    settings = parse_settings({"CPUWeight": 300}, MACHINE)
    assert kernel_differences(Host(str(tmp_path)), V2, {"ControlGroup": "/a.slice", "CPUWeight": 100}, settings) == {}
