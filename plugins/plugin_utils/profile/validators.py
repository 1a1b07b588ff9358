# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Validation of the desired values of options, by the rules that apply to every node and every version."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...module_utils.cgroup.kubelet_names import Driver, slice_stem
from ...module_utils.errors import value_problem
from ...module_utils.quantity import parse_cpu_list, parse_quantity
from ...module_utils.safe_text import quote_value
from ..releases.kubelet_features import parse_bool


class ProfileError(ValueError):
    """``variable`` is the option that holds the value."""

    def __init__(self, variable: str, message: str) -> None:
        super().__init__(f"{variable}: {message}")
        self.variable = variable
        self.message = message


RESERVABLE = ("cpu", "memory", "ephemeral-storage", "pid")
AUTO = "auto"
"""The value of reserved_memory that is computed from each node's reservations."""
_LARGEST = (1 << 63) - 1
_RESOURCE = re.compile(r"memory|hugepages-[0-9]+[KMGTPE]i")
_CGROUP = re.compile(r"/|/?[0-9A-Za-z:_.@\\ -]+(?:/[0-9A-Za-z:_.@\\ -]+)*/?")
"""Characters of unit names, systemd.unit(5), and spaces, which the cgroupfs driver accepts."""
_GATE = re.compile(r"[A-Za-z][A-Za-z0-9]*")


def reservation(variable: str, value: Mapping[str, Any] | None) -> dict[str, str]:
    """Amounts by resource (cmd/kubelet/app/server.go parseResourceList)."""
    reserved = {}
    for resource, amount in (value or {}).items():
        if resource not in RESERVABLE:
            raise ProfileError(variable, f"{resource!r} cannot be reserved; kubelet accepts {', '.join(RESERVABLE)}")
        if _quantity(f"{variable}.{resource}", amount) < 0:
            raise ProfileError(f"{variable}.{resource}", f"{amount} is negative")
        reserved[str(resource)] = str(amount)
    return reserved


def _quantity(variable: str, amount: Any) -> Any:
    text = str(amount)
    if text != text.strip():
        raise ProfileError(variable, f"{text!r} starts or ends with whitespace")
    try:
        return parse_quantity(text)
    except ValueError as error:
        raise ProfileError(variable, value_problem(error)) from None


def seconds(variable: str, value: int) -> int:
    """A timeout in seconds."""
    if value <= 0:
        raise ProfileError(variable, f"{value} is not a number of seconds above 0")
    return value


def cpu_list(variable: str, value: str | None) -> str | None:
    if not value:
        return None
    if value != value.strip():
        raise ProfileError(variable, f"{value!r} starts or ends with whitespace")
    try:
        parse_cpu_list(value)
    except ValueError as error:
        raise ProfileError(variable, value_problem(error)) from None
    return value


def port(variable: str, value: int | None) -> int | None:
    if value is not None and not 0 <= value <= 65535:
        raise ProfileError(variable, f"{value} is not a port: 0 closes it, 1 to 65535 open it")
    return value


def plain_value(_variable: str, value: Any) -> Any:
    """A value that the argument specification has checked; the empty text does not change the field."""
    return None if value == "" else value


def driver(_variable: str, value: str | None) -> Driver | None:
    """A cgroup driver that the argument specification has checked."""
    return Driver(value) if value else None


def cgroup(variable: str, value: str | None) -> str | None:
    """The path of a cgroup, as kubelet's fields have it."""
    if not value:
        return None
    if not _CGROUP.fullmatch(value) or not set(value.split("/")).isdisjoint((".", "..")):
        raise ProfileError(variable, f"{value!r} is not the path of a cgroup such as /pods")
    return value


def cgroup_root(variable: str, value: str | None) -> str | None:
    if value and not value.startswith("/"):
        raise ProfileError(variable, f"{value!r} is not an absolute path such as /pods")
    return cgroup(variable, value)


def enforcement_levels(variable: str, value: Sequence[str] | None) -> tuple[str, ...]:
    """Levels of enforceNodeAllocatable; empty if the profile does not set them."""
    levels = tuple(map(str, value or ()))
    twice = sorted({level for level in levels if levels.count(level) > 1})
    if twice:
        raise ProfileError(variable, f"has {', '.join(twice)} twice")
    return levels


def policy_options(variable: str, value: Mapping[str, Any] | None) -> dict[str, str]:
    """A manager's options; kubelet's map has only strings, so a boolean becomes ``true`` or ``false``."""
    options = {}
    for name, chosen in (value or {}).items():
        if isinstance(chosen, (dict, list)) or chosen is None:
            raise ProfileError(f"{variable}.{name}", "is not a plain value")
        options[str(name)] = str(chosen).lower() if isinstance(chosen, bool) else str(chosen)
    return options


def throttling_factor(variable: str, value: float | None) -> float | None:
    """Range: pkg/kubelet/apis/config/validation/validation.go."""
    if value is not None and not 0 < value <= 1:
        raise ProfileError(variable, f"{value} is not greater than 0 and at most 1")
    return value


def pids(variable: str, value: int | None) -> int | None:
    if value is not None and not -1 <= value <= _LARGEST:
        raise ProfileError(variable, f"{value} is not a number of processes; -1 sets no limit")
    return value


def gates(variable: str, value: Mapping[str, Any] | None) -> dict[str, bool]:
    """Feature gates by name."""
    chosen = {}
    for name, switch in (value or {}).items():
        on = parse_bool(switch)
        if not _GATE.fullmatch(str(name)) or on is None:
            raise ProfileError(
                f"{variable}.{name}",
                f"{quote_value(switch)} is neither true nor false, or the name is not that of a gate",
            )
        chosen[str(name)] = on
    return chosen


MemoryEntry = Mapping[str, Any]
"""``{numaNode: 0, limits: {memory: 1Gi}}``."""


def reserved_memory(variable: str, value: Any) -> str | tuple[MemoryEntry, ...]:
    """AUTO, or kubelet's own list; empty if the profile does not set it."""
    if value in (None, "", []):
        return ()
    if value == AUTO:
        return AUTO
    if not isinstance(value, list):
        raise ProfileError(variable, f"is neither {AUTO} nor a list of numaNode and limits")
    entries = tuple(_memory_entry(f"{variable}[{number}]", entry) for number, entry in enumerate(value))
    pairs = [(entry["numaNode"], resource) for entry in entries for resource in entry["limits"]]
    twice = next((pair for pair in pairs if pairs.count(pair) > 1), None)
    if twice:
        raise ProfileError(variable, f"NUMA node {twice[0]} has {twice[1]} twice")
    return entries


def _memory_entry(variable: str, entry: Any) -> MemoryEntry:
    """An entry, by the rules of pkg/kubelet/apis/config/validation/validation_reserved_memory.go."""
    if not isinstance(entry, dict) or set(entry) != {"numaNode", "limits"} or not isinstance(entry["limits"], dict):
        raise ProfileError(variable, "is not an entry such as {numaNode: 0, limits: {memory: 1Gi}}")
    node = str(entry["numaNode"])
    if not node.isdecimal() or len(node) > 4 or not entry["limits"]:
        raise ProfileError(variable, "needs the number of a NUMA node, and at least one limit")
    return {"numaNode": int(node), "limits": dict(_memory_limits(variable, entry["limits"]))}


def _memory_limits(variable: str, limits: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for resource, amount in limits.items():
        if not _RESOURCE.fullmatch(str(resource)):
            raise ProfileError(variable, f"{resource!r} is neither memory nor hugepages-SIZE such as hugepages-2Mi")
        if _quantity(f"{variable}.limits.{resource}", amount) <= 0:
            raise ProfileError(f"{variable}.limits.{resource}", f"{amount} is not greater than 0")
        yield str(resource), str(amount)


def named_cgroups(options: Mapping[str, Any]) -> tuple[str, ...]:
    """Cgroups that must exist before kubelet's configuration names them; the node looks for them."""
    names = [
        str(options[option]) for option in ("system_reserved_cgroup", "kube_reserved_cgroup") if options.get(option)
    ]
    root = str(options.get("cgroup_root") or "/")
    return (*names, *((root, slice_stem(root.strip("/"))) if root.strip("/") else ()))
