# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The schema of a field of KubeletConfiguration, a row of the table in ``kubelet_fields``, and how its values compare.

Several fields have more than one spelling of a value. Each ``same_`` function takes the current value and the desired
one; ValueError: kubelet would not accept the current value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ...module_utils.quantity import parse_cpu_list, parse_quantity
from ..releases.kubelet_features import parse_bool
from ..releases.versions import Version
from .validators import plain_value


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


class FieldType(str, Enum):
    """The type of a field's value."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    SWITCH = "switch"
    TABLE = "table"
    """In a flag ``key=value,...``."""
    THRESHOLDS = "thresholds"
    """In a flag ``key<value,...``."""
    LIST = "list"
    MEMORY = "memory"
    """A list of ``numaNode`` and ``limits``; in a flag ``0:memory=1Gi;...``."""


ARGUMENT_TYPES: Mapping[FieldType, str] = {
    FieldType.TEXT: "str",
    FieldType.INTEGER: "int",
    FieldType.NUMBER: "float",
    FieldType.SWITCH: "bool",
    FieldType.TABLE: "dict",
    FieldType.LIST: "list",
    FieldType.MEMORY: "raw",
}
"""The type of a module's option."""


class FieldImpact(Enum):
    """What a changed value requires."""

    RESTART = "a restart of kubelet"
    DRAIN = "a restart while pods are stopped"
    DRAIN_UNDER_STATIC_CPU = "the same under the CPU manager's policy static, else a restart"
    DRAIN_UNDER_STATIC_MEMORY = "the same under the memory manager's policy Static, else a restart"


@dataclass(frozen=True, kw_only=True)
class KubeletField:
    """A field. A field without ``option`` is only read, and has none of the attributes below ``option``."""

    key: str
    flag: str = ""
    """The deprecated flag, which overrides every file; empty for a field that only a file can set."""
    type: FieldType = FieldType.TEXT
    default: str | None = None
    later: tuple[tuple[Version, str | None], ...] = ()
    """Defaults that replaced ``default``, oldest first."""
    since: Version = (1, 0)
    """The first version that has the field."""
    option: str = ""
    """Its name in the profile; the role's variable has the prefix ``colocation_``."""
    choices: tuple[str, ...] = ()
    unit: str = ""
    """What a value is: it completes the sentence "The value is ..."."""
    check: Callable[[str, Any], Any] = plain_value
    """(option, value) to the desired value; None or empty does not change the field; ProfileError if it is invalid."""
    compare: Callable[[Any, Any], bool] = same_value
    """(current, desired) of ``means``; ValueError for a value that kubelet refuses."""
    impact: FieldImpact = FieldImpact.RESTART
    entry_impacts: tuple[tuple[str, FieldImpact], ...] = ()
    """Entries of a table whose impact is not ``impact``."""
    role_default: str | None = None
    """The value of the role ``node`` if the variable is not set; None does not change the field."""
    description: str = ""
    """Paragraphs of the documentation, one a line; ``O(option)`` names another option of the table."""
    source: str = ""
    """Where Kubernetes documents the rules of the field; a path is in kubernetes/kubernetes."""

    def default_in(self, version: Version | None) -> str | None:
        """The value if the field is not set; None without a default, or if it depends on an unknown version."""
        if version is None:
            return None if self.later else self.default
        if version < self.since:
            return None
        return next((value for since, value in reversed(self.later) if version >= since), self.default)

    def means(self, current: Any, desired: Any) -> bool:
        """Whether the current value means the desired one; False for a value that kubelet would refuse."""
        try:
            return self.compare(current, desired)
        except ValueError:
            return False

    def impact_of(self, entry: tuple[str, ...] = ()) -> FieldImpact:
        """The impact of the whole field, or of one entry of a table."""
        return dict(self.entry_impacts).get(entry[0], self.impact) if len(entry) == 1 else self.impact

    @property
    def impacts(self) -> frozenset[FieldImpact]:
        """The impacts of the field and of its entries."""
        return frozenset((self.impact, *(impact for _entry, impact in self.entry_impacts)))

    def argument_spec(self) -> dict[str, Any]:
        """The option in an argument specification."""
        spec: dict[str, Any] = {"type": ARGUMENT_TYPES[self.type]}
        if self.type is FieldType.LIST:
            spec["elements"] = "str"
        if self.choices:
            spec["choices"] = list(self.choices)
        return spec
