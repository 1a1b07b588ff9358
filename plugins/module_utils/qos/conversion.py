# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Neutral values to and from kernel files and systemd properties, with the rounding of both.

``current`` is the text of each file of ``knob.files(mode)`` that the cgroup has, as last read or written: some files
hold two knobs or count in the unit of another, and of some knobs a node has one file or another. Of several knobs that
are set together, compute those of ``COUNTED_IN`` first and hand on what each gave, ``{**current, **texts(…)}``. The
order of writing is another one: ``ordering.turn``.

To put a file back keep its text: shares of 100 are a weight between 9 and 10, and no whole one gives them again.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Mapping

from ..errors import ColocationError
from ..systemd.property import INFINITY, Property, PropertyValue
from . import devices
from .forms import FORMS
from .knob import Form, Interface, Kind, Knob, UnitProperty, Value
from .weights import DEFAULT, blkio_of_io_weight

PAGE = 4096
"""Bytes; all of x86 and most of arm64. os.sysconf("SC_PAGE_SIZE") tells the node's."""

BLKIO_BFQ = "blkio.bfq.weight"

PERCENT = 10000
"""Microseconds of CPU in a second that are one percent of a CPU."""

COUNTED_IN = ("cpu_period", "memory_max")
"""Knobs in which others count: a quota is a part of the period, swap on v1 is what is added to the memory."""

UNWRITTEN = (Form.BESIDE, Form.FORGOTTEN)
"""Forms of files that a knob is not written to."""

IDLE_WEIGHT = 0
"""systemd's weight of an idle unit: src/basic/cgroup-util.h CGROUP_WEIGHT_IDLE."""


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


def _there(knob: Knob, mode: str, current: Mapping[str, str]) -> list[tuple[str, Form]]:
    """The files to write or read: those that the cgroup has where one is enough, otherwise all."""
    interface = _interface(knob, mode)
    found: list[tuple[str, Form]] = []
    for each in interface.files:
        if each.form not in UNWRITTEN and (each.name in current or not interface.any_of):
            found.append((each.name, each.form))
    if not found:
        raise ColocationError("%s: the cgroup has none of %s" % (knob.name, ", ".join(knob.files(mode))))
    return found


def texts(knob: Knob, value: Value, mode: str, current: Mapping[str, str]) -> dict[str, str]:
    """What to write into which file, in this order; a text of several lines (io_max) takes a write(2) for each line."""
    there = _there(knob, mode, current)
    try:
        found = {name: FORMS[form][0](value, current) for name, form in there}
        return {name: text for name, text in found.items() if text}  # of devices there may be none, and no line
    except (ValueError, IndexError) as error:
        raise _unreadable(knob, mode, current) from error


def reading(knob: Knob, mode: str, current: Mapping[str, str]) -> Value:
    """What the files say."""
    name, form = _there(knob, mode, current)[0]
    if name not in current:
        raise ColocationError("%s: %s of the cgroup was not read" % (knob.name, name))
    try:
        return FORMS[form][1](current[name].strip(), current)
    except (ValueError, IndexError) as error:
        raise _unreadable(knob, mode, current) from error


def _unreadable(knob: Knob, mode: str, current: Mapping[str, str]) -> ColocationError:
    said = ["%s %r" % (name, current[name].strip()) for name in knob.files(mode) if name in current]
    return ColocationError("%s: not what the kernel writes: %s" % (knob.name, ", ".join(said)))


def _property(knob: Knob) -> UnitProperty:
    if knob.unit_property is None:
        raise ColocationError("%s: systemd has no property for it" % knob.name)
    return knob.unit_property


def properties(knob: Knob, value: Value) -> tuple[Property, ...]:
    """What to ask systemd for: arguments of SetUnitProperties. None takes the setting back to systemd's default."""
    held = _property(knob)
    if knob.kind is Kind.DEVICES:
        return devices.properties(tuple(value or ()), held.names, held.signature)  # type: ignore[arg-type]
    return (Property(held.names[0], held.signature, _to_property(knob, _in_systemd(knob, value))),)


def of_properties(knob: Knob, values: Mapping[str, Any]) -> Value:
    """What systemd's properties say; None where no limit or no weight is set."""
    held = _property(knob)
    missing = [name for name in held.names if name not in values]
    if missing:
        raise ColocationError("%s: systemd does not tell %s" % (knob.name, ", ".join(missing)))
    if knob.kind is Kind.DEVICES:
        return devices.of_properties(values)
    return _of_property(knob, values[held.names[0]])


def settled(
    knob: Knob, value: Value, mode: str, backend: Backend, current: Mapping[str, str], page: int = PAGE
) -> Value:
    """The value after rounding: FILE as ``reading`` will find it, DBUS as ``of_properties`` will.

    Under DBUS the files then say ``realized(knob, settled(knob, value, mode, DBUS, …), mode, …)``.
    """
    if backend is Backend.DBUS:
        return _in_systemd(knob, value)
    if knob.kind is Kind.BYTES and value is not None:
        value = int(value) // (knob.granule or page) * (knob.granule or page)  # type: ignore[arg-type]
    return reading(knob, mode, {**current, **texts(knob, value, mode, current)})


def realized(
    knob: Knob, value: Value, mode: str, current: Mapping[str, str], page: int = PAGE, quota: Value = None
) -> Value:
    """What ``reading`` will find once systemd has written a value that it holds.

    ``quota``: the neutral value of cpu_quota that it will hold.
    """
    if knob.name == "cpu_period" and quota is None:
        # src/core/cgroup.c cgroup_cpu_adjust_period_and_log: without a quota the period stays the default.
        return knob.default
    if mode == "v1" and BLKIO_BFQ in current and knob.name == "io_weight":
        # src/core/cgroup.c set_blkio_weight gives BFQ the weight of blkio.weight.
        value = blkio_of_io_weight(DEFAULT if value is None else int(value))  # type: ignore[arg-type]
    return settled(knob, value, mode, Backend.FILE, current, page)


def together(values: Mapping[str, Value], knobs: Mapping[str, Knob]) -> tuple[Property, ...]:
    """The properties of several knobs of one unit, for one call: idle and weight are one property in systemd."""
    found: list[Property] = []
    for name, value in values.items():
        if name == "cpu_idle" and not value and values.get("cpu_weight") is not None:
            continue
        found += properties(knobs[name], value)
    return tuple(found)


def _in_systemd(knob: Knob, value: Value) -> Value:
    # The call takes any number, but is kept as CPUQuota= in whole percent, cut off (newer: in hundredths), and that is
    # what counts after a daemon-reload: src/core/dbus-cgroup.c. So up to the next percent at once, as runc does.
    if knob.kind is Kind.CPU_TIME and value is not None:
        return -(-int(value) // PERCENT) * PERCENT  # type: ignore[arg-type]
    return value


def _to_property(knob: Knob, value: Any) -> PropertyValue:
    if knob.kind is Kind.CPUS:
        return _mask(value)
    if knob.kind is Kind.BOOLEAN:
        return IDLE_WEIGHT if value else INFINITY
    answer: PropertyValue = INFINITY if value is None else value
    return answer


def _of_property(knob: Knob, found: Any) -> Value:
    if knob.kind is Kind.CPUS:
        return tuple(place * 8 + bit for place, byte in enumerate(found) for bit in range(8) if byte >> bit & 1)
    if knob.kind is Kind.BOOLEAN:
        return bool(found == IDLE_WEIGHT)
    answer: Value = None if found == INFINITY else found
    return answer


def _mask(ids: tuple[int, ...]) -> bytes:
    """One bit for each id, the first in the lowest bit: src/shared/cpu-set-util.c cpu_set_to_dbus."""
    mask = 0
    for each in ids:
        mask |= 1 << each
    return mask.to_bytes((mask.bit_length() + 7) // 8, "little")
