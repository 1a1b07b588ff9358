# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse systemd's syntax of resource-control values to the number, text or list of the D-Bus property.

Source: systemd src/core/load-fragment.c, src/basic/parse-util.c, src/basic/time-util.c.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Callable, Mapping

from ..errors import InvalidValue, value_problem
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
    """The base of percentages: pages of memory, bytes of a page, and the maximum number of tasks."""

    pages: int
    page: int
    tasks: int


Reader = Callable[[str, Machine], PropertyValue]
"""Parses a value; the text of an InvalidValue is the expected format, for a value that systemd does not accept."""


def weight(text: str, _machine: Machine) -> int:
    """1 to 10000."""
    return _in_range(text, 1, 10000, "a weight from 1 to 10000")


def cpu_weight(text: str, machine: Machine) -> int:
    """1 to 10000, or ``idle`` as 0: src/core/dbus-cgroup.c, since systemd 252."""
    return 0 if text == "idle" else weight(text, machine)


def quota(text: str, _machine: Machine) -> int:
    """Microseconds of CPU time per second. systemd stores whole percent only: src/core/dbus-cgroup.c."""
    match = re.fullmatch(r"(\d+)\s*%", text)
    if match is None or int(match[1]) == 0:
        raise InvalidValue("whole percent of one CPU, such as 50% or 250%")
    return int(match[1]) * 10000


def period(text: str, _machine: Machine) -> int:
    """Microseconds."""
    microseconds = _microseconds(text)
    if microseconds is None or not 1000 <= microseconds <= 1000000:
        raise InvalidValue("a time from 1ms to 1s")
    return microseconds


def positive_bytes(text: str, machine: Machine) -> int:
    value = any_bytes(text, machine)
    if value == 0:
        raise InvalidValue("more than 0 bytes")
    return value


def any_bytes(text: str, machine: Machine) -> int:
    """Bytes; a percentage as systemd computes it: src/basic/limits-util.c physical_memory_scale()."""
    if text == "infinity":
        return INFINITY
    part = _part(text)
    if part is not None:
        return int(machine.pages * part) * machine.page
    value = _size(text, 1024)
    if value is None:
        raise InvalidValue("bytes such as 1073741824, 512M or 1.5G (powers of 1024, no Gi), a percentage, or infinity")
    return value


def tasks(text: str, machine: Machine) -> int:
    if text == "infinity":
        return INFINITY
    part = _part(text)
    if part is not None:
        return int(machine.tasks * part)
    return _in_range(
        text, 1, INFINITY - 1, "a number of tasks above 0, a percentage of the kernel's maximum, or infinity"
    )


def mask(text: str, _machine: Machine) -> bytes:
    """One bit for each CPU or memory node, the lowest first."""
    try:
        return bits(parse_cpu_list(text.replace(" ", ",")))
    except ValueError as error:
        raise InvalidValue(f"a list of numbers such as 0-3,8: {value_problem(error)}") from error


def bits(numbers: frozenset[int]) -> bytes:
    """systemd src/shared/cpu-set-util.c cpu_set_to_dbus(), without empty bytes at the end."""
    mask_bytes = bytearray(max(numbers, default=-1) // 8 + 1)
    for number in numbers:
        mask_bytes[number // 8] |= 1 << number % 8
    return bytes(mask_bytes)


def boolean(text: str, _machine: Machine) -> bool:
    if text.lower() not in _BOOLEANS:
        raise InvalidValue("yes or no")
    return _BOOLEANS[text.lower()]


def choice(*words: str) -> Reader:
    def read(text: str, _machine: Machine) -> str:
        if text not in words:
            raise InvalidValue(" or ".join(words))
        return text

    return read


def per_device(read: Callable[[str], int], expected: str) -> Reader:
    """One device on each line: its path and a number."""

    def pairs(text: str, _machine: Machine) -> tuple[tuple[str, int], ...]:
        values = {}
        for line in text.splitlines():
            entry = _DEVICE.fullmatch(line.strip())
            if entry is None:
                raise InvalidValue(f"a path such as /dev/vda, a space and {expected}")
            values[entry[1]] = read(entry[2])
        return tuple(sorted(values.items()))

    return pairs


def device_rate(text: str) -> int:
    """Bytes or requests per second; here K is 1000."""
    value = _size(text, 1000)
    if not value:
        raise InvalidValue("a path, a space and a number such as 10M (powers of 1000)")
    return value


def device_weight(text: str) -> int:
    return _in_range(text, 1, 10000, "a path, a space and a weight from 1 to 10000")


def device_latency(text: str) -> int:
    value = _microseconds(text)
    if not value:
        raise InvalidValue("a path, a space and a time such as 25ms")
    return value


def comparable(value: Any) -> Any:
    """A form in which equivalent values are equal: masks without empty bytes at the end, devices sorted."""
    if isinstance(value, bytes):
        return value.rstrip(b"\0")
    return tuple(sorted(value)) if isinstance(value, tuple) else value


def _in_range(text: str, lowest: int, highest: int, expected: str) -> int:
    if not re.fullmatch(r"\d+", text) or not lowest <= int(text) <= highest:
        raise InvalidValue(expected)
    return int(text)


def _part(text: str) -> Fraction | None:
    match = _PERCENT.fullmatch(text)
    if match is None:
        return None
    if not 0 <= Fraction(match[1]) <= 100:
        raise InvalidValue("at most 100%")
    return Fraction(match[1]) / 100


def _size(text: str, base: int) -> int | None:
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    power = _SUFFIXES.index(match[2]) + 1 if match[2] else 0
    value = int(Fraction(match[1]) * base**power)
    return value if value < INFINITY else None


def _microseconds(text: str) -> int | None:
    match = _TIME.fullmatch(text)
    return None if match is None else int(Fraction(match[1]) * _MICROSECONDS[match[2]])
