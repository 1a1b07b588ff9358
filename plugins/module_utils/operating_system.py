# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which operating system a node has, and how the file systems that a change writes to are mounted."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Mapping

LONGEST_NAME = 80
"""Characters of a name that a node gives itself."""
_ASSIGNMENT = re.compile(r"^([A-Z0-9_]+)=(.*)$")
_ESCAPED = re.compile(r"\\(.)")


@dataclass(frozen=True)
class FileSystem:
    """The mount that a path is on. ``volatile``: what is written there is gone after a reboot."""

    leads_to: str
    mount: str
    type: str
    read_only: bool
    volatile: bool

    def __str__(self) -> str:
        words = (self.type, *(("read-only",) if self.read_only else ()), *(("in memory",) if self.volatile else ()))
        return f"{self.mount} ({', '.join(words)})"


@dataclass(frozen=True)
class OperatingSystem:
    """Fields of os-release(5), empty where it is missing; ``file_systems`` by path, empty in an image."""

    id: str = ""
    variant: str = ""
    name: str = ""
    file_systems: Mapping[str, FileSystem] = field(default_factory=dict)


def interpret_system(system: Mapping[str, Any]) -> OperatingSystem:
    """OperatingSystem of a snapshot's section ``system``; that of the host where the snapshot is of its container."""
    given = parse_os_release(system.get("outer_os_release") or system.get("os_release") or "")
    name = given.get("PRETTY_NAME") or given.get("NAME") or given.get("ID") or ""
    return OperatingSystem(
        id=given.get("ID", "").lower(),
        variant=given.get("VARIANT_ID", "").lower(),
        name=" ".join(name.split())[:LONGEST_NAME],
        file_systems={path: FileSystem(**found) for path, found in (system.get("filesystems") or {}).items()},
    )


def parse_os_release(text: str) -> dict[str, str]:
    """The assignments of os-release(5), which are a shell's without expansion; the last of a name counts."""
    found = (_ASSIGNMENT.match(line.strip()) for line in text.splitlines())
    return {each[1]: _unquoted(each[2]) for each in found if each}


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        inner = value[1:-1]
        return inner if value[0] == "'" else _ESCAPED.sub(r"\1", inner)
    return value
