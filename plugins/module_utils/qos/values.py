# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What people write for a knob, in their units, as its neutral value."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Mapping

from ..errors import ColocationError
from ..quantity import parse_quantity
from .knob import Kind, Knob, Value


@dataclass(frozen=True)
class Capacity:
    """What "50%" is a part of: the node's CPUs and bytes of memory, or those of a reservation.

    ``devices`` has MAJOR:MINOR of each path that stands for a block device in io_max.
    """

    cpus: float
    memory: int
    devices: Mapping[str, str] = field(default_factory=dict)


def parse(knob: Knob, given: Any, capacity: Capacity, period: int = 100000) -> Value:
    """The neutral value; ColocationError that names the knob, what was given, the unit and the range.

    ``period`` is that of the cgroup, in microseconds: what "50000us" of CPU are a part of.
    """
    text = str(given).strip()
    if text == "max" and knob.unlimited:
        return None
    try:
        if text.endswith("%"):
            whole = capacity.memory if knob.kind is Kind.BYTES else Fraction(capacity.cpus) * 1000000
            return int(Fraction(text[:-1]) / 100 * whole)
        if knob.kind is Kind.CPU_TIME:
            if text.endswith("us"):
                return int(text[:-2]) * 1000000 // period
            return int(parse_quantity(text) * 1000000)
        return int(parse_quantity(text))
    except ValueError as error:
        raise ColocationError("%s: %s is no %s" % (knob.name, text, knob.unit)) from error
