# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kubernetes resource quantities and Linux CPU lists."""

from __future__ import annotations

import re
from fractions import Fraction

from .errors import InvalidValue

_QUANTITY = re.compile(
    r"(?P<number>[+-]?(?:\d+\.?\d*|\.\d+))(?P<suffix>[eE][+-]?\d{1,3}|[KMGTPE]i|[numkMGTPE])?", re.ASCII
)
_LAST_CPU = 1 << 16
"""Far above the kernel's CONFIG_NR_CPUS, so that a wrong list cannot exhaust the machine's memory."""

_SUFFIXES = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 10**3),
    "k": Fraction(10**3),
    **{letter: Fraction(1000 ** (power + 2)) for power, letter in enumerate("MGTPE")},
    **{letter + "i": Fraction(1024 ** (power + 1)) for power, letter in enumerate("KMGTPE")},
}


def parse_quantity(text: str) -> Fraction:
    """Value of ``500m``, ``2``, ``1.5Gi``, ``1e3`` in units (CPUs, bytes); InvalidValue for an invalid quantity.

    Grammar: apimachinery pkg/api/resource/quantity.go.
    """
    match = _QUANTITY.fullmatch(text.strip())
    if not match:
        raise InvalidValue("%r is not a Kubernetes quantity such as 500m, 2 or 1Gi" % text)
    suffix = match["suffix"] or ""
    if suffix and suffix not in _SUFFIXES:
        return Fraction(match["number"] + suffix)
    return Fraction(match["number"]) * _SUFFIXES.get(suffix, Fraction(1))


def parse_cpu_list(text: str) -> frozenset[int]:
    """CPU numbers of a kernel CPU list such as ``0-3,8``; the empty text is the empty set."""
    cpus: set[int] = set()
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        match = re.fullmatch(r"([0-9]+)(?:-([0-9]+))?", part)
        if not match:
            raise InvalidValue("%r is not a CPU list such as 0-3,8" % text)
        first = int(match[1])
        last = int(match[2] or first)
        if last < first:
            raise InvalidValue("%r is not a CPU list: %s runs backwards" % (text, part))
        if last > _LAST_CPU:
            raise InvalidValue("%r is not a CPU list: CPU %d does not exist" % (text, last))
        cpus.update(range(first, last + 1))
    return frozenset(cpus)


def format_cpu_list(cpus: frozenset[int]) -> str:
    """The shortest kernel CPU list for a set of CPU numbers."""
    runs: list[list[int]] = []
    for cpu in sorted(cpus):
        if runs and runs[-1][1] == cpu - 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def format_bytes(count: int) -> str:
    """A number of bytes as the shortest exact Kubernetes quantity, such as ``512Mi``."""
    power = next((power for power in range(6, 0, -1) if count and count % 1024**power == 0), 0)
    return f"{count // 1024**power}{'KMGTPE'[power - 1]}i" if power else str(count)
