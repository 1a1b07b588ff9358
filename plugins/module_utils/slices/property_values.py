# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""systemd's own syntax of a resource-control value, read as the number, text or list that its D-Bus property holds.

Source: systemd src/core/load-fragment.c, src/basic/parse-util.c, src/basic/time-util.c.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Callable, Mapping

from ..quantity import parse_cpu_list
from ..systemd.dbus_values import INFINITY, PropertyValue

_NUMBER = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGTPE]?)B?")
_PERCENT = re.compile(r"(\d+(?:\.\d{1,2})?)\s*%")
_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*(us|ms|s|)")
_MICROSECONDS = {"us": 1, "ms": 1000, "s": 1000000, "": 1000000}
_DEVICE = re.compile(r"(/[^\s%\"'\\]+)\s+(\S.*)")
_SUFFIXES = "KMGTPE"
_BOOLEANS: Mapping[str, bool] = {
    **dict.fromkeys(("1", "yes", "y", "true", "t", "on"), True),
    **dict.fromkeys(("0", "no", "n", "false", "f", "off"), False),
}


@dataclass(frozen=True)
class Machine:
    """What a per cent is a part of: pages of memory, bytes of a page, and the most tasks there can be."""

    pages: int
    page: int
    tasks: int


Reader = Callable[[str, Machine], PropertyValue]
"""ValueError, whose text says what is wanted, for what systemd would not take."""


def weight(text: str, _machine: Machine) -> int:
    """1 to 10000."""
    return _in_range(text, 1, 10000, "a weight from 1 to 10000")


def cpu_weight(text: str, machine: Machine) -> int:
    """``idle`` is 0: src/core/dbus-cgroup.c, since systemd 252."""
    return 0 if text == "idle" else weight(text, machine)


def quota(text: str, _machine: Machine) -> int:
    """Microseconds of CPU time a second. systemd keeps whole per cent only: src/core/dbus-cgroup.c."""
    found = re.fullmatch(r"(\d+)\s*%", text)
    if found is None or int(found[1]) == 0:
        raise ValueError("whole per cent of one CPU, such as 50% or 250%")
    return int(found[1]) * 10000


def period(text: str, _machine: Machine) -> int:
    """Microseconds."""
    found = _microseconds(text)
    if found is None or not 1000 <= found <= 1000000:
        raise ValueError("a time from 1ms to 1s")
    return found


def positive_bytes(text: str, machine: Machine) -> int:
    value = any_bytes(text, machine)
    if value == 0:
        raise ValueError("more than 0 bytes")
    return value


def any_bytes(text: str, machine: Machine) -> int:
    """Bytes; a per cent as systemd takes it: src/basic/limits-util.c physical_memory_scale()."""
    if text == "infinity":
        return INFINITY
    part = _part(text)
    if part is not None:
        return int(machine.pages * part) * machine.page
    value = _size(text, 1024)
    if value is None:
        raise ValueError("bytes such as 1073741824, 512M or 1.5G (powers of 1024, no Gi), a per cent, or infinity")
    return value


def tasks(text: str, machine: Machine) -> int:
    if text == "infinity":
        return INFINITY
    part = _part(text)
    if part is not None:
        return int(machine.tasks * part)
    return _in_range(
        text, 1, INFINITY - 1, "a number of tasks above 0, a per cent of what the kernel allows, or infinity"
    )


def mask(text: str, _machine: Machine) -> bytes:
    """A bit for each CPU or memory node, the lowest first."""
    try:
        return bits(parse_cpu_list(text.replace(" ", ",")))
    except ValueError as error:
        raise ValueError(f"a list of numbers such as 0-3,8: {error}") from error


def bits(numbers: frozenset[int]) -> bytes:
    """systemd src/shared/cpu-set-util.c cpu_set_to_dbus(), without empty bytes at the end."""
    found = bytearray(max(numbers, default=-1) // 8 + 1)
    for number in numbers:
        found[number // 8] |= 1 << number % 8
    return bytes(found)


def boolean(text: str, _machine: Machine) -> bool:
    if text.lower() not in _BOOLEANS:
        raise ValueError("yes or no")
    return _BOOLEANS[text.lower()]


def choice(*words: str) -> Reader:
    def read(text: str, _machine: Machine) -> str:
        if text not in words:
            raise ValueError(" or ".join(words))
        return text

    return read


def per_device(read: Callable[[str], int], wanted: str) -> Reader:
    """One device a line: its path and a number."""

    def pairs(text: str, _machine: Machine) -> tuple[tuple[str, int], ...]:
        found = {}
        for line in text.splitlines():
            entry = _DEVICE.fullmatch(line.strip())
            if entry is None:
                raise ValueError(f"a path such as /dev/vda, a blank and {wanted}")
            found[entry[1]] = read(entry[2])
        return tuple(sorted(found.items()))

    return pairs


def device_rate(text: str) -> int:
    """Bytes or requests a second; here K is 1000."""
    value = _size(text, 1000)
    if not value:
        raise ValueError("a path, a blank and a number such as 10M (powers of 1000)")
    return value


def device_weight(text: str) -> int:
    return _in_range(text, 1, 10000, "a path, a blank and a weight from 1 to 10000")


def device_latency(text: str) -> int:
    value = _microseconds(text)
    if not value:
        raise ValueError("a path, a blank and a time such as 25ms")
    return value


def comparable(value: Any) -> Any:
    """The same for values that mean the same: masks without empty bytes at the end, devices in order."""
    if isinstance(value, bytes):
        return value.rstrip(b"\0")
    return tuple(sorted(value)) if isinstance(value, tuple) else value


def _in_range(text: str, lowest: int, highest: int, wanted: str) -> int:
    if not re.fullmatch(r"\d+", text) or not lowest <= int(text) <= highest:
        raise ValueError(wanted)
    return int(text)


def _part(text: str) -> Fraction | None:
    found = _PERCENT.fullmatch(text)
    if found is None:
        return None
    if not 0 <= Fraction(found[1]) <= 100:
        raise ValueError("at most 100%")
    return Fraction(found[1]) / 100


def _size(text: str, base: int) -> int | None:
    found = _NUMBER.fullmatch(text)
    if found is None:
        return None
    power = _SUFFIXES.index(found[2]) + 1 if found[2] else 0
    value = int(Fraction(found[1]) * base**power)
    return value if value < INFINITY else None


def _microseconds(text: str) -> int | None:
    found = _TIME.fullmatch(text)
    return None if found is None else int(Fraction(found[1]) * _MICROSECONDS[found[2]])
