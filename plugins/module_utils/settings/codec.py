# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert neutral values to and from kernel files and systemd properties, with the rounding of both.

``current`` has the text of each file of ``knob.files(mode)`` that the cgroup has, as last read or written. It is needed
because some files hold two knobs, some use the unit of another file, and some knobs have one of several files. When
several knobs are set together, convert those of ``COUNTED_IN`` first and pass on each result:
``{**current, **render_texts(…)}``. The order of writing is a different one: ``rank_change``.

To restore a file, keep its text: shares of 100 are a weight between 9 and 10, and no whole weight converts to them.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Callable, Mapping

from ..errors import ColocationError
from ..quantity import format_cpu_list, parse_cpu_list
from ..systemd.dbus_values import INFINITY, Property, PropertyValue
from . import device_limits
from .knob import Form, Interface, Kind, Knob, UnitProperty, Value
from .weight_scales import (
    DEFAULT,
    bfq_of_io_weight,
    blkio_of_io_weight,
    io_weight_of_bfq,
    io_weight_of_blkio,
    shares_of_weight,
    weight_of_shares,
)

SECOND = 1000000
"""Microseconds."""
QUOTA_MIN = 1000
"""Microseconds in a period: kernel/sched/core.c min_cfs_quota_period."""
NO_LIMIT = 2**62
"""v1 has no word for "no limit": it shows the largest number of whole pages (mm/page_counter.c PAGE_COUNTER_MAX)."""

CPU_MAX = "cpu.max"
CFS_PERIOD = "cpu.cfs_period_us"
CFS_QUOTA = "cpu.cfs_quota_us"
LIMIT = "memory.limit_in_bytes"

Texts = Mapping[str, str]
Write = Callable[[Any, Texts], str]
Read = Callable[[str, Texts], Value]


def _required_text(texts: Texts, name: str) -> str:
    """The text of a file that is needed to interpret another one."""
    if name not in texts:
        raise ColocationError("%s of the cgroup was not read" % name, "Read every file that the setting names")
    return texts[name].strip()


def _quota(rate: int | None, period: int, unlimited: str) -> str:
    """Microseconds of CPU in a period: systemd src/core/cgroup.c cgroup_apply_unified_cpu_quota does the same."""
    return unlimited if rate is None else str(max(rate * period // SECOND, QUOTA_MIN))


def _rate(quota: str, period: str) -> int | None:
    """The neutral value of a quota, rounded up so that _quota returns the same quota again."""
    return None if quota in ("max", "-1") else -(-int(quota) * SECOND // int(period))


def _cpu_max(text: str) -> tuple[str, str]:
    quota, period = text.split()
    return quota, period


def _write_cpu_max(value: Any, texts: Texts) -> str:
    period = _cpu_max(_required_text(texts, CPU_MAX))[1]
    return "%s %s" % (_quota(value, int(period), "max"), period)


def _write_cpu_max_period(value: Any, texts: Texts) -> str:
    rate = _rate(*_cpu_max(_required_text(texts, CPU_MAX)))
    return "%s %d" % (_quota(rate, value, "max"), value)


def _write_cfs_rate(value: Any, texts: Texts) -> str:
    rate = _rate(_required_text(texts, CFS_QUOTA), _required_text(texts, CFS_PERIOD))
    return _quota(rate, value, "-1")


def _limit(text: str) -> int | None:
    return None if text in ("max", "-1") or int(text) >= NO_LIMIT else int(text)


def _write_memsw(value: Any, texts: Texts) -> str:
    if value is None:
        return "-1"
    memory = _limit(_required_text(texts, LIMIT))
    if memory is None:
        raise ColocationError(
            "memory_swap_max: cgroup v1 limits the sum of memory and swap, and memory_max of this cgroup is max",
            "Set memory_max as well",
        )
    return str(memory + value)


def _read_memsw(text: str, texts: Texts) -> Value:
    both, memory = _limit(text), _limit(_required_text(texts, LIMIT))
    return None if both is None or memory is None else max(both - memory, 0)


def _number_or_word(word: str) -> tuple[Write, Read]:
    """A number, or ``word`` for no limit."""
    return (lambda value, _texts: word if value is None else str(value)), (lambda text, _texts: _limit(text))


def _weight_on_scale(
    to_scale: Callable[[int], int], from_scale: Callable[[int], int], prefix: str = ""
) -> tuple[Write, Read]:
    """A weight on the scale of one file. BFQ and io.weight show ``default 100``, then a line for each device."""
    return (
        lambda value, _texts: prefix + str(to_scale(100 if value is None else value)),
        lambda text, _texts: from_scale(int(text.splitlines()[0].split()[-1])),
    )


def _unscaled(number: int) -> int:
    return number


FORMS: Mapping[Form, tuple[Write, Read]] = {
    Form.NUMBER: (lambda value, _texts: str(value), lambda text, _texts: int(text)),
    Form.WEIGHT: _weight_on_scale(_unscaled, _unscaled),
    Form.MAX: _number_or_word("max"),
    Form.MINUS_ONE: _number_or_word("-1"),
    Form.FLAG: (lambda value, _texts: "1" if value else "0", lambda text, _texts: text == "1"),
    Form.LIST: (
        lambda value, _texts: format_cpu_list(frozenset(value)) or "\n",  # an empty write(2) does not reach the kernel
        lambda text, _texts: tuple(sorted(parse_cpu_list(text))),
    ),
    Form.WORD: (lambda value, _texts: str(value), lambda text, _texts: text),
    Form.SHARES: _weight_on_scale(shares_of_weight, weight_of_shares),
    Form.DEFAULT_WEIGHT: _weight_on_scale(_unscaled, _unscaled, prefix="default "),
    Form.BFQ_WEIGHT: _weight_on_scale(bfq_of_io_weight, io_weight_of_bfq),
    Form.BLKIO_WEIGHT: _weight_on_scale(blkio_of_io_weight, io_weight_of_blkio),
    Form.CPU_MAX: (_write_cpu_max, lambda text, _texts: _rate(*_cpu_max(text))),
    Form.CPU_MAX_PERIOD: (_write_cpu_max_period, lambda text, _texts: int(_cpu_max(text)[1])),
    Form.CFS_QUOTA: (
        lambda value, texts: _quota(value, int(_required_text(texts, CFS_PERIOD)), "-1"),
        lambda text, texts: _rate(text, _required_text(texts, CFS_PERIOD)),
    ),
    Form.CFS_RATE: (_write_cfs_rate, lambda _text, texts: int(_required_text(texts, CFS_PERIOD))),
    Form.MEMSW: (_write_memsw, _read_memsw),
    Form.IO_MAX: (device_limits.render_io_max, lambda text, _texts: device_limits.parse_io_max(text)),
    **{
        form: (device_limits.throttle_writer(kind), device_limits.parse_throttle)
        for form, kind in device_limits.THROTTLE_FORMS.items()
    },
}


PAGE = 4096
"""Bytes, on all of x86 and most of arm64. os.sysconf("SC_PAGE_SIZE") returns the node's page size."""

BLKIO_BFQ = "blkio.bfq.weight"

PERCENT = 10000
"""One percent of a CPU, in microseconds of CPU in a second."""

COUNTED_IN = ("cpu_period", "memory_max")
"""Knobs on which others depend: a quota is a part of the period; on v1 the swap limit is added to the memory limit."""

UNWRITTEN = (Form.READ_ONLY, Form.RESET)
"""Forms of files to which a knob is not written."""

IDLE_WEIGHT = 0
"""systemd's weight of an idle unit: src/basic/cgroup-util.h CGROUP_WEIGHT_IDLE."""


class Backend(str, Enum):
    """Who writes the kernel's file: systemd, through a D-Bus call, or the collection itself."""

    DBUS = "dbus"
    FILE = "file"


def _interface(knob: Knob, mode: str) -> Interface:
    interface = knob.interface(mode)
    if interface is None:
        raise ColocationError(
            "%s: the kernel does not have this setting on cgroup %s" % (knob.name, mode),
            "docs/qos.md lists the cgroup versions of each setting",
        )
    return interface


def _files_in_use(knob: Knob, mode: str, current: Mapping[str, str]) -> list[tuple[str, Form]]:
    """The files to write or read: those that the cgroup has where one is enough, otherwise all of the knob."""
    interface = _interface(knob, mode)
    in_use: list[tuple[str, Form]] = []
    for file in interface.files:
        if file.form not in UNWRITTEN and (file.name in current or not interface.any_of):
            in_use.append((file.name, file.form))
    if not in_use:
        raise ColocationError("%s: the cgroup has none of %s" % (knob.name, ", ".join(knob.files(mode))))
    return in_use


def render_texts(knob: Knob, value: Value, mode: str, current: Mapping[str, str]) -> dict[str, str]:
    """Text by file, in the order of writing. A text of several lines (io_max) needs a write(2) for each line."""
    files = _files_in_use(knob, mode, current)
    try:
        texts = {name: FORMS[form][0](value, current) for name, form in files}
        return {name: text for name, text in texts.items() if text}  # empty without devices
    except (ValueError, IndexError) as error:
        raise _parse_error(knob, mode, current) from error


def parse_texts(knob: Knob, mode: str, current: Mapping[str, str]) -> Value:
    """The neutral value in the files."""
    name, form = _files_in_use(knob, mode, current)[0]
    if name not in current:
        raise ColocationError("%s: %s of the cgroup was not read" % (knob.name, name))
    try:
        return FORMS[form][1](current[name].strip(), current)
    except (ValueError, IndexError) as error:
        raise _parse_error(knob, mode, current) from error


def _parse_error(knob: Knob, mode: str, current: Mapping[str, str]) -> ColocationError:
    contents = ["%s %r" % (name, current[name].strip()) for name in knob.files(mode) if name in current]
    return ColocationError("%s: the kernel does not write this: %s" % (knob.name, ", ".join(contents)))


def _property(knob: Knob) -> UnitProperty:
    if knob.unit_property is None:
        raise ColocationError("%s: systemd has no property for this setting" % knob.name)
    return knob.unit_property


def to_properties(knob: Knob, value: Value) -> tuple[Property, ...]:
    """The arguments of SetUnitProperties. None resets the setting to systemd's default."""
    unit_property = _property(knob)
    if knob.kind is Kind.DEVICES:
        return device_limits.to_properties(tuple(value or ()), unit_property.names, unit_property.signature)  # type: ignore[arg-type]
    return (Property(unit_property.names[0], unit_property.signature, _to_property(knob, _in_systemd(knob, value))),)


def from_properties(knob: Knob, values: Mapping[str, Any]) -> Value:
    """The neutral value of systemd's properties; None where no limit or weight is set."""
    unit_property = _property(knob)
    missing = [name for name in unit_property.names if name not in values]
    if missing:
        raise ColocationError("%s: systemd does not report %s" % (knob.name, ", ".join(missing)))
    if knob.kind is Kind.DEVICES:
        return device_limits.from_properties(values)
    return _from_property(knob, values[unit_property.names[0]])


def rounded_value(
    knob: Knob, value: Value, mode: str, backend: Backend, current: Mapping[str, str], page: int = PAGE
) -> Value:
    """The value after rounding: for FILE the one that ``parse_texts`` will return, for DBUS ``from_properties``.

    With DBUS the files then have ``value_written_by_systemd(knob, rounded_value(…, DBUS, …), …)``.
    """
    if backend is Backend.DBUS:
        return _in_systemd(knob, value)
    if knob.kind is Kind.BYTES and value is not None:
        value = int(value) // (knob.granule or page) * (knob.granule or page)  # type: ignore[arg-type]
    return parse_texts(knob, mode, {**current, **render_texts(knob, value, mode, current)})


def value_written_by_systemd(
    knob: Knob, value: Value, mode: str, current: Mapping[str, str], page: int = PAGE, quota: Value = None
) -> Value:
    """The value that ``parse_texts`` will return after systemd has written the property ``value``.

    ``quota``: the neutral value of cpu_quota that systemd will have.
    """
    if knob.name == "cpu_period" and quota is None:
        # src/core/cgroup.c cgroup_cpu_adjust_period_and_log: without a quota the period stays the default.
        return knob.default
    if mode == "v1" and BLKIO_BFQ in current and knob.name == "io_weight":
        # src/core/cgroup.c set_blkio_weight gives BFQ the weight of blkio.weight.
        value = blkio_of_io_weight(DEFAULT if value is None else int(value))  # type: ignore[arg-type]
    return rounded_value(knob, value, mode, Backend.FILE, current, page)


def merge_properties(values: Mapping[str, Value], knobs: Mapping[str, Knob]) -> tuple[Property, ...]:
    """The properties of several knobs of one unit, for one call. Idle and weight are the same property of systemd."""
    properties: list[Property] = []
    for name, value in values.items():
        if name == "cpu_idle" and not value and values.get("cpu_weight") is not None:
            continue
        properties += to_properties(knobs[name], value)
    return tuple(properties)


def _in_systemd(knob: Knob, value: Value) -> Value:
    # The call accepts any number, but systemd stores CPUQuota= in whole percent, rounded down (newer versions: in
    # hundredths), and uses that after a daemon-reload: src/core/dbus-cgroup.c. So round up to a percent, as runc does.
    if knob.kind is Kind.CPU_TIME and value is not None:
        return -(-int(value) // PERCENT) * PERCENT  # type: ignore[arg-type]
    return value


def _to_property(knob: Knob, value: Any) -> PropertyValue:
    if knob.kind is Kind.CPUS:
        return _mask(value)
    if knob.kind is Kind.BOOLEAN:
        return IDLE_WEIGHT if value else INFINITY
    property_value: PropertyValue = INFINITY if value is None else value
    return property_value


def _from_property(knob: Knob, property_value: Any) -> Value:
    if knob.kind is Kind.CPUS:
        return tuple(
            place * 8 + bit for place, byte in enumerate(property_value) for bit in range(8) if byte >> bit & 1
        )
    if knob.kind is Kind.BOOLEAN:
        return bool(property_value == IDLE_WEIGHT)
    neutral: Value = None if property_value == INFINITY else property_value
    return neutral


def _mask(ids: tuple[int, ...]) -> bytes:
    """One bit for each id; id 0 is the lowest bit: src/shared/cpu-set-util.c cpu_set_to_dbus."""
    mask = 0
    for number in ids:
        mask |= 1 << number
    return mask.to_bytes((mask.bit_length() + 7) // 8, "little")
