# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A typed property of a systemd unit, as D-Bus carries it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Tuple, Union

INFINITY = 2**64 - 1
"""What ``infinity`` and ``not set`` are in every ``t`` of systemd: src/core/dbus-cgroup.c."""

PropertyValue = Union[int, bool, str, bytes, Tuple[Tuple[str, int], ...]]


@dataclass(frozen=True)
class Property:
    """``signature`` is one of ``t`` (int), ``b`` (bool), ``s`` (str), ``ay`` (bytes), ``a(st)`` (pairs)."""

    name: str
    signature: str
    value: PropertyValue
