# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Neutral values to and from kernel files and systemd properties, with the rounding of both.

``current`` is the text of each file of ``knob.files(mode)`` that the cgroup has, as last read or written: some files
hold two knobs or count in the unit of another, and of some knobs a node has one file or another. Of several knobs that
are set together, hand on what the one before gave: ``current = {**current, **texts(...)}``; cpu_period comes before
cpu_quota and memory_max before memory_swap_max (``ordering.ordered`` gives this order).

To put a file back keep its text: shares of 100 are a weight between 9 and 10, and no whole one gives them again.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Mapping

from ..errors import ColocationError
from ..systemd.property import INFINITY, Property
from .forms import FORMS
from .knob import Form, Interface, Kind, Knob, Value

PAGE = 4096
"""Bytes; all of x86 and most of arm64. os.sysconf("SC_PAGE_SIZE") tells the node's."""

PERCENT = 10000
"""Microseconds of CPU in a second that are one percent of a CPU."""


class Backend(str, Enum):
    """Who writes: systemd, asked over D-Bus, or we, into the kernel's file."""

    DBUS = "dbus"
    FILE = "file"


def _interface(knob: Knob, mode: str) -> Interface:
    interface = knob.interface(mode)
    if interface is None:
        raise ColocationError(
            "%s: the kernel has no such setting on cgroup %s" % (knob.name, mode), "docs/knobs.md tells where it is"
        )
    return interface


def _there(interface: Interface, current: Mapping[str, str]) -> list[tuple[str, Form]]:
    """The files to write or read: those that the cgroup has where one is enough, otherwise all."""
    names: list[tuple[str, Form]] = []
    for each in interface.files:
        if each.form is not Form.BESIDE and (each.name in current or not interface.any_of):
            names.append((each.name, each.form))
    return names


def texts(knob: Knob, value: Value, mode: str, current: Mapping[str, str]) -> dict[str, str]:
    """What to write into which file, in this order."""
    return {name: FORMS[form][0](value, current) for name, form in _there(_interface(knob, mode), current)}


def reading(knob: Knob, mode: str, current: Mapping[str, str]) -> Value:
    """What the files say."""
    for name, form in _there(_interface(knob, mode), current):
        if name in current:
            return FORMS[form][1](current[name].strip(), current)
    raise ColocationError("%s: none of %s was read" % (knob.name, ", ".join(knob.files(mode))))


def properties(knob: Knob, value: Value) -> tuple[Property, ...]:
    """What to ask systemd for: the arguments of one SetUnitProperties call."""
    held = knob.unit_property
    if held is None:
        raise ColocationError("%s: systemd has no property for it" % knob.name)
    settled_value = settled(knob, value, "v2", Backend.DBUS, {})
    return (Property(held.names[0], held.signature, INFINITY if settled_value is None else settled_value),)  # type: ignore[arg-type]


def of_properties(knob: Knob, values: Mapping[str, Any]) -> Value:
    """What systemd's properties say; None where one is not set."""
    found = values[knob.property_names[0]]
    return None if found == INFINITY else found


def settled(
    knob: Knob, value: Value, mode: str, backend: Backend, current: Mapping[str, str], page: int = PAGE
) -> Value:
    """The value after rounding: FILE as ``reading`` will find it, DBUS as ``of_properties`` will.

    Under DBUS the files then say ``settled(knob, settled(knob, value, mode, DBUS, …), mode, FILE, …)``.
    """
    if value is None:
        return value
    if backend is Backend.DBUS:
        return _in_systemd(knob, value)
    if knob.kind is Kind.BYTES:
        granule = knob.granule or page
        value = value // granule * granule  # type: ignore[operator]
    return reading(knob, mode, {**current, **texts(knob, value, mode, current)})


def _in_systemd(knob: Knob, value: Value) -> Value:
    # The call takes any number, but is kept as CPUQuota= in whole percent, cut off, and that counts after a
    # daemon-reload: src/core/dbus-cgroup.c. So up to the next percent at once, as runc does (addCPUQuota).
    if knob.kind is Kind.CPU_TIME:
        return -(-int(value) // PERCENT) * PERCENT  # type: ignore[arg-type]
    return value
