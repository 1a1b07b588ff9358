# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a value of kubelet's file means the wanted one: several fields have more than one spelling."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...module_utils.quantity import parse_cpu_list, parse_quantity
from ..facts.kubelet_layers import shown
from ..kubelet_fields import (
    CGROUP_ROOT,
    CPU_MANAGER_OPTIONS,
    ENFORCE_NODE_ALLOCATABLE,
    KUBE_RESERVED,
    MEMORY_THROTTLING_FACTOR,
    RESERVED_MEMORY,
    RESERVED_SYSTEM_CPUS,
    SYSTEM_RESERVED,
    TOPOLOGY_MANAGER_OPTIONS,
    KubeletField,
    Version,
)
from ..kubelet_policy_options import switched_on


# These are strings to kubelet, whose decoder takes no number for one: `cpu: 1` is not `cpu: "1"`.
def _quantity(found: Any, wanted: str) -> bool:
    return isinstance(found, str) and parse_quantity(found) == parse_quantity(wanted)


def _cpus(found: Any, wanted: str) -> bool:
    return isinstance(found, str) and parse_cpu_list(found) == parse_cpu_list(wanted)


def _option(found: Any, wanted: str) -> bool:
    switch = switched_on(wanted)
    return isinstance(found, str) and (found == wanted or (switch is not None and switched_on(found) is switch))


def _levels(found: Any, wanted: list[str]) -> bool:
    return isinstance(found, list) and len(found) == len(wanted) and set(map(str, found)) == set(wanted)


def _number(found: Any, wanted: float) -> bool:
    return isinstance(found, (int, float)) and not isinstance(found, bool) and float(found) == wanted


def _root(found: Any, wanted: str) -> bool:
    return isinstance(found, (str, type(None))) and (found or "/").rstrip("/") == wanted.rstrip("/")


def _memory(found: Any, wanted: list[Any]) -> bool:
    return isinstance(found, list) and _amounts(found) == _amounts(wanted)


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


_COMPARED: Mapping[str, Callable[[Any, Any], bool]] = {
    SYSTEM_RESERVED.key: _quantity,
    KUBE_RESERVED.key: _quantity,
    RESERVED_SYSTEM_CPUS.key: _cpus,
    CPU_MANAGER_OPTIONS.key: _option,
    TOPOLOGY_MANAGER_OPTIONS.key: _option,
    ENFORCE_NODE_ALLOCATABLE.key: _levels,
    MEMORY_THROTTLING_FACTOR.key: _number,
    CGROUP_ROOT.key: _root,
    RESERVED_MEMORY.key: _memory,
}


def same(setting: KubeletField, found: Any, wanted: Any) -> bool:
    """Whether the file's value means the wanted one."""
    compare = _COMPARED.get(setting.key)
    try:
        return compare(found, wanted) if compare else type(found) is type(wanted) and bool(found == wanted)
    except ValueError:
        return False


def is_default(setting: KubeletField, wanted: Any, version: Version | None) -> bool:
    """Whether the wanted value holds where the field is not set, now and after an upgrade."""
    return not setting.later and shown(wanted) == setting.default_in(version)
