# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""D-Bus values as people read them, in results and differences."""

from __future__ import annotations

from typing import Any, Mapping

from ..quantity import format_cpu_list
from .properties import RULES
from .property import INFINITY


def readable(value: Any) -> Any:
    """``infinity`` for the number that means it, a list of CPUs or nodes for a mask, a dict for devices."""
    if isinstance(value, bytes):
        return format_cpu_list(frozenset(_numbers(value)))
    if isinstance(value, tuple):
        return {path: readable(number) for path, number in value}
    if isinstance(value, int) and value == INFINITY:
        return "infinity"
    return value


def properties(unit: Mapping[str, Any]) -> dict[str, Any]:
    """The resource-control properties of a unit, under the names that systemctl show gives them."""
    return {rule.dbus: readable(unit[rule.dbus]) for rule in RULES.values() if rule.dbus in unit}


def _numbers(mask: bytes) -> list[int]:
    return [place * 8 + bit for place, byte in enumerate(mask) for bit in range(8) if byte & 1 << bit]
