# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The registry of knobs: one row a knob.

Files and ranges: kernel Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/*.rst and kernel/sched/core.c.
Properties, their versions and what of them reaches cgroup v1: systemd man/systemd.resource-control.xml,
man/org.freedesktop.systemd1.xml and src/core/cgroup.c cgroup_context_apply.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Mapping

from ..errors import ColocationError
from .knob import Form, Interface, KernelFile, Kind, Knob, UnitProperty

SIZED = "hugetlb_<size>_max"
"""The one knob whose name holds a size, such as hugetlb_2MB_max."""

_SIZED_NAME = re.compile(r"hugetlb_([1-9][0-9]*(?:KB|MB|GB))_max")
_BYTES_LIMIT = 2**63 - 1


def _one(controller: str, name: str, form: Form) -> Interface:
    return Interface(controller, (KernelFile(name, form),))


def _held(name: str, signature: str, since: int) -> UnitProperty:
    return UnitProperty((name,), signature, since)


def _held_on_both(name: str, signature: str, since: int) -> UnitProperty:
    return UnitProperty((name,), signature, since, on_v1=True)


def _memory(name: str, file: str, since: int) -> Knob:
    """A memory knob of v2 whose property has its name in systemd's spelling."""
    return Knob(
        name,
        Kind.BYTES,
        "bytes",
        minimum=0,
        maximum=_BYTES_LIMIT,
        unlimited=True,
        v2=_one("memory", file, Form.MAX),
        unit_property=_held("".join(word.title() for word in name.split("_")), "t", since),
    )


def _protection(name: str, file: str, since: int) -> Knob:
    return replace(
        _memory(name, file, since), default=0, v1=_one("memory", file, Form.MAX), note="on v1 with Anolis kernels only"
    )


_ROWS = (
    Knob(
        "cpu_weight",
        Kind.INTEGER,
        "weight",
        minimum=1,
        maximum=10000,
        default=100,
        v1=_one("cpu", "cpu.shares", Form.SHARES),
        v2=_one("cpu", "cpu.weight", Form.NUMBER),
        unit_property=_held_on_both("CPUWeight", "t", 232),
    ),
    Knob(
        "cpu_quota",
        Kind.CPU_TIME,
        "CPUs",
        minimum=1000,
        maximum=10**12,
        unlimited=True,
        v1=Interface(
            "cpu", (KernelFile("cpu.cfs_quota_us", Form.CFS_QUOTA), KernelFile("cpu.cfs_period_us", Form.BESIDE))
        ),
        v2=_one("cpu", "cpu.max", Form.CPU_MAX),
        unit_property=_held_on_both("CPUQuotaPerSecUSec", "t", 213),
    ),
    replace(
        _memory("memory_high", "memory.high", 231),
        minimum=4096,
        v1=_one("memory", "memory.high", Form.MAX),
        note="on v1 with Anolis kernels only",
    ),
)

KNOBS: Mapping[str, Knob] = {row.name: row for row in _ROWS}


def knob(name: str) -> Knob:
    """The row of a knob; ColocationError naming the known ones."""
    found = KNOBS.get(name)
    if found and name != SIZED:
        return found
    sized = _SIZED_NAME.fullmatch(name)
    if sized:
        return _of_size(sized.group(1))
    raise ColocationError(
        "%s is not a setting of a cgroup" % name,
        "Those that there are: %s; docs/knobs.md describes them" % ", ".join(KNOBS),
    )


def _of_size(size: str) -> Knob:
    return KNOBS[SIZED]
