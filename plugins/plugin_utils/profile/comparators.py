# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a value of kubelet's configuration means the desired one: several fields have more than one spelling.

Each function takes the value found and the desired one. ValueError: kubelet would not read the value found.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...module_utils.quantity import parse_cpu_list, parse_quantity
from ..releases.kubelet_policy_options import parse_bool


def same_value(found: Any, desired: Any) -> bool:
    """A value that has one spelling; true is not 1."""
    return type(found) is type(desired) and bool(found == desired)


# These are strings to kubelet, whose decoder takes no number for one: `cpu: 1` is not `cpu: "1"`.
def same_quantity(found: Any, desired: str) -> bool:
    """500m is 0.5."""
    return isinstance(found, str) and parse_quantity(found) == parse_quantity(desired)


def same_cpus(found: Any, desired: str) -> bool:
    """0,1 is 0-1."""
    return isinstance(found, str) and parse_cpu_list(found) == parse_cpu_list(desired)


def same_option(found: Any, desired: str) -> bool:
    """T is true."""
    switch = parse_bool(desired)
    return isinstance(found, str) and (found == desired or (switch is not None and parse_bool(found) is switch))


def same_members(found: Any, desired: list[str]) -> bool:
    """Lists in any order."""
    return isinstance(found, list) and len(found) == len(desired) and set(map(str, found)) == set(desired)


def same_number(found: Any, desired: float) -> bool:
    """1 is 1.0."""
    return isinstance(found, (int, float)) and not isinstance(found, bool) and float(found) == desired


def same_root(found: Any, desired: str) -> bool:
    """/pods/ is /pods, and nothing is /."""
    return isinstance(found, (str, type(None))) and (found or "/").rstrip("/") == desired.rstrip("/")


def same_memory(found: Any, desired: list[Any]) -> bool:
    """The same amounts of the same NUMA nodes."""
    return isinstance(found, list) and _amounts(found) == _amounts(desired)


def _amounts(entries: list[Any]) -> list[Any]:
    """(NUMA node, resource, bytes), sorted; ValueError for an entry that kubelet would not read."""
    amounts = []
    for entry in entries:
        limits = entry.get("limits") if isinstance(entry, Mapping) else None
        node = entry.get("numaNode") if isinstance(entry, Mapping) else None
        if not isinstance(limits, Mapping) or not isinstance(node, int) or isinstance(node, bool):
            raise ValueError("an entry without numaNode and limits")
        amounts += [(node, str(name), parse_quantity(str(each))) for name, each in limits.items()]
    return sorted(amounts)
