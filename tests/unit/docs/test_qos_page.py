# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/qos.md: `make docs` writes its table of settings, and its settings of kubelet are refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.cgroup.kubelet_names import Driver, QosClass
from ansible_collections.volcano.colocation.plugins.module_utils.settings.option_values import Capacity, parse_value
from ansible_collections.volcano.colocation.plugins.module_utils.settings.ownership import CgroupLevel, refusal
from ansible_collections.volcano.colocation.plugins.module_utils.settings.registry import KNOBS, knob

PAGE = (Path(__file__).parents[3] / "docs" / "qos.md").read_text(encoding="utf-8")


def rows(section: str) -> list[list[str]]:
    """The rows of the tables of a section that begin with code."""
    text = PAGE.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    return [[cell.strip() for cell in line[1:-1].split("|")] for line in text.splitlines() if line.startswith("| `")]


ROW_OF = {row[0].strip("`"): row for row in rows("All settings")}
OWNED = [row for row in rows("What kubelet writes itself") if len(row) == 6]
EXAMPLES = rows("Values")

PLACES = [
    (CgroupLevel.ROOT, None),
    (CgroupLevel.QOS_CLASS, QosClass.BURSTABLE),
    (CgroupLevel.QOS_CLASS, QosClass.BESTEFFORT),
    (CgroupLevel.POD, QosClass.BURSTABLE),
]
CONDITIONS: dict[str, dict[str, Any]] = {
    "always": {"version": (1, 28), "static_cpu": False, "memory_qos": None},
    "static CPU manager": {"version": (1, 28), "static_cpu": True, "memory_qos": None},
    "MemoryQoS, up to 1.36": {"version": (1, 36), "static_cpu": False, "memory_qos": True},
    "from 1.37 on": {"version": (1, 37), "static_cpu": False, "memory_qos": False},
}


def test_every_knob_has_its_row_in_the_order_of_the_registry() -> None:
    assert list(ROW_OF) == list(KNOBS)


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("cpu_quota", "CPUs, up to 8192, `max` | `max` | `cpu.cfs_quota_us`, `cpu.cfs_period_us` | `cpu.max`"),
        ("cpuset_partition", "`member` or `root` or `isolated` | `member` | | `cpuset.cpus.partition`"),
        ("memory_high", "bytes, from 4096, `max` | `max` | `memory.high` | `memory.high` | `MemoryHigh` 231"),
        ("io_weight", "weight, 1 to 10000 | `100` | `blkio.bfq.weight` or `blkio.weight` |"),
        ("cpuset_cpus", "CPUs | | `cpuset.cpus` | `cpuset.cpus` | `AllowedCPUs` 244 | |"),
        ("cpu_qos_level", "level, -2 to 2 | `0` | `cpu.qos_level` | | |"),
    ],
)
def test_a_row_has_the_values_of_the_registry(name: str, cells: str) -> None:
    assert f"| `{name}` | {cells}" in PAGE


def example(text: str) -> Any:
    return json.loads(text) if re.fullmatch(r"[\d.]+|true|false|[\[{].*", text) else text.strip('"')


def test_the_examples_are_accepted_with_their_meaning() -> None:
    capacity = Capacity(8, 32 * 2**30, {"/dev/sda": "8:0"})
    assert len(EXAMPLES) > 8
    for name, written, value in EXAMPLES:
        row = knob(name.strip("`"))
        parsed = parse_value(row, example(written.strip("`")), capacity)
        assert json.loads(json.dumps(parsed)) == json.loads(value.strip("`")), name


def refusals(name: str, condition: str) -> list[str]:
    asked = dict(CONDITIONS[condition])
    version = asked.pop("version")
    return [refusal(knob(name), place, qos, Driver.SYSTEMD, version, **asked) for place, qos in PLACES]


@pytest.mark.parametrize("row", OWNED, ids=lambda row: f"{row[0]} {row[1]}")
def test_settings_of_kubelet_on_the_page_are_refused(row: list[str]) -> None:
    for name in re.findall(r"`([^`]+)`", row[0]):
        reasons = refusals(name.replace("<size>", "2MB"), row[1])
        assert [bool(reason) for reason in reasons] == [cell != "" for cell in row[2:]], name
        for reason, cell in zip(reasons, row[2:], strict=True):
            assert {"minute": "every minute", "start": "at its start", "": ""}.get(cell, "") in reason


def test_nothing_else_is_refused() -> None:
    named = {(name, row[1]) for row in OWNED for name in re.findall(r"`([^`]+)`", row[0])}
    other = [
        (name, condition)
        for name in KNOBS
        for condition in CONDITIONS
        if (name, condition) not in named
        and (name, "always") not in named
        and any(refusals(name.replace("<size>", "2MB"), condition))
    ]
    assert other == []
