# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of knobs in words, for messages, differences and results."""

from __future__ import annotations

from typing import Any

from ..quantity import format_bytes, format_cpu_list
from .forms import SECOND
from .knob import Kind, Knob


def shown(knob: Knob, value: Any) -> str:
    """A neutral value as a person writes it: ``max``, ``1.5`` CPUs, ``512Mi``, ``0-3,8``, ``8:0 rbps=1048576``."""
    if value is None:
        return "max"
    if knob.kind is Kind.BYTES:
        return format_bytes(value)
    if knob.kind is Kind.CPU_TIME:
        return ("%d.%06d" % divmod(value, SECOND)).rstrip("0").rstrip(".")
    if isinstance(value, bool):
        return "1" if value else "0"
    if not isinstance(value, tuple):
        return str(value)
    if value and isinstance(value[0], tuple):
        return ", ".join(_device(each) for each in value)
    return format_cpu_list(frozenset(value)) or "none"


def _device(limits: Any) -> str:
    device, each = limits
    return " ".join([device, *(f"{name}={number}" for name, number in each)])
