# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a value of kubelet's configuration means the desired one: several fields have more than one spelling.

Each function takes the current value and the desired one. ValueError: kubelet would not accept the current value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...module_utils.quantity import parse_cpu_list, parse_quantity
from ..releases.kubelet_policy_options import parse_bool


def same_value(current: Any, desired: Any) -> bool:
    """A value that has one spelling; true is not 1."""
    return type(current) is type(desired) and bool(current == desired)


# kubelet decodes these as strings and does not accept a number: `cpu: 1` is not `cpu: "1"`.
def same_quantity(current: Any, desired: str) -> bool:
    """500m is 0.5."""
    return isinstance(current, str) and parse_quantity(current) == parse_quantity(desired)


def same_cpus(current: Any, desired: str) -> bool:
    """0,1 is 0-1."""
    return isinstance(current, str) and parse_cpu_list(current) == parse_cpu_list(desired)


def same_option(current: Any, desired: str) -> bool:
    """T is true."""
    switch = parse_bool(desired)
    return isinstance(current, str) and (current == desired or (switch is not None and parse_bool(current) is switch))


def same_members(current: Any, desired: list[str]) -> bool:
    """Lists in any order."""
    return isinstance(current, list) and len(current) == len(desired) and set(map(str, current)) == set(desired)


def same_number(current: Any, desired: float) -> bool:
    """1 is 1.0."""
    return isinstance(current, (int, float)) and not isinstance(current, bool) and float(current) == desired


def same_root(current: Any, desired: str) -> bool:
    """/pods/ is /pods, and nothing is /."""
    return isinstance(current, (str, type(None))) and (current or "/").rstrip("/") == desired.rstrip("/")


def same_memory(current: Any, desired: list[Any]) -> bool:
    """The same amounts of the same NUMA nodes."""
    return isinstance(current, list) and _amounts(current) == _amounts(desired)


def _amounts(entries: list[Any]) -> list[Any]:
    """(NUMA node, resource, bytes), sorted; ValueError for an entry that kubelet would not accept."""
    amounts = []
    for entry in entries:
        limits = entry.get("limits") if isinstance(entry, Mapping) else None
        node = entry.get("numaNode") if isinstance(entry, Mapping) else None
        if not isinstance(limits, Mapping) or not isinstance(node, int) or isinstance(node, bool):
            raise ValueError("an entry without numaNode and limits")
        amounts += [(node, str(name), parse_quantity(str(amount))) for name, amount in limits.items()]
    return sorted(amounts)
