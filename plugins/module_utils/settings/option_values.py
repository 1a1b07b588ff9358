# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse the value that a user writes for a knob, with its unit, and render a neutral value for the user."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Callable, Mapping

from ..errors import ColocationError, InvalidValue, value_problem
from ..quantity import format_bytes, format_cpu_list, parse_cpu_list, parse_quantity
from ..safe_text import quote_value
from . import device_limits
from .codec import QUOTA_MIN, SECOND
from .knob import Kind, Knob, Value

_WHOLE = re.compile(r"[+-]?\d+(?:\.0*)?")
_TIME = re.compile(r"(\d+)(us|ms|s)?")
_TIMES = {None: 1, "us": 1, "ms": 1000, "s": SECOND}
_DEVICE = re.compile(r"\d+:\d+")
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)%")
_TRUE = ("true", "yes", "on", "1")
_FALSE = ("false", "no", "off", "0")


@dataclass(frozen=True)
class Capacity:
    """The base of percentages such as "50%": CPUs and bytes of memory of the node or of a reservation.

    ``devices`` maps the path of each block device in io_max to its MAJOR:MINOR.
    """

    cpus: float
    memory: int
    devices: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Scale:
    capacity: Capacity
    period: int


def parse_value(knob: Knob, option: Any, capacity: Capacity, period: int = 100000) -> Value:
    """The neutral value of an option; a ColocationError names the knob, the option, the unit and the range.

    ``period`` is the cgroup's CPU period in microseconds; a quota such as "50000us" is a part of it.
    """
    try:
        if str(option).strip() == "max" and knob.unlimited:
            return None
        value = _PARSERS[knob.kind](knob, option, _Scale(capacity, period))
        _check_range(knob, value)
    except ValueError as error:
        raise ColocationError("%s: %s" % (knob.name, value_problem(error)), "Use %s" % describe_values(knob)) from error
    return value


def device_paths(option: Any) -> tuple[str, ...]:
    """The paths of devices in a value of io_max, for Capacity.devices."""
    names = option if isinstance(option, Mapping) else ()
    return tuple(str(name) for name in names if str(name).startswith("/"))


def describe_values(knob: Knob) -> str:
    """The values that the knob accepts, as text for the user."""
    return _WORDS[knob.kind](knob) + (", or max" if knob.unlimited else "")


def _check_range(knob: Knob, value: Value) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        return
    if (knob.minimum is not None and value < knob.minimum) or (knob.maximum is not None and value > knob.maximum):
        raise InvalidValue("%s is out of range" % _amount(knob, value))


def _amount(knob: Knob, value: int) -> str:
    return "%g" % (value / SECOND) if knob.kind is Kind.CPU_TIME else str(value)


def _text(option: Any) -> str:
    """A scalar value as text; ValueError for a boolean, a list or a mapping."""
    if option is None or isinstance(option, (bool, list, tuple, dict)):
        raise InvalidValue("%s is not a number or an amount" % quote_value(option))
    return str(option).strip()


def _integer(_knob: Knob, option: Any, _scale: _Scale) -> Value:
    text = _text(option)
    if not _WHOLE.fullmatch(text):
        raise InvalidValue("%r is not a whole number" % text)
    return int(text.partition(".")[0])


def _boolean(_knob: Knob, option: Any, _scale: _Scale) -> Value:
    text = str(option).strip().lower()
    if text not in _TRUE + _FALSE:
        raise InvalidValue("%s is neither true nor false" % quote_value(option))
    return text in _TRUE


def _bytes(_knob: Knob, option: Any, scale: _Scale) -> Value:
    text = _text(option)
    part = _part(text)
    if part is not None:
        return int(part * scale.capacity.memory)
    amount = parse_quantity(text)
    if amount.denominator != 1:
        raise InvalidValue("%r is not a whole number of bytes" % text)
    return int(amount)


def _part(text: str) -> Fraction | None:
    """``50%`` as 0.5; ValueError above 100%, None if the text is not a percentage."""
    match = _PERCENT.fullmatch(text)
    if not match:
        return None
    part = Fraction(match.group(1)) / 100
    if part > 1:
        raise InvalidValue("%s is more than 100%%" % text)
    return part


def _cpu_time(_knob: Knob, option: Any, scale: _Scale) -> Value:
    text = _text(option)
    part = _part(text)
    if part is not None:
        value = part * Fraction(scale.capacity.cpus) * SECOND
    elif text.endswith("us"):
        value = Fraction(_microseconds_of(text) * SECOND, scale.period)
    else:
        value = parse_quantity(text) * SECOND
    if value * scale.period < QUOTA_MIN * SECOND:
        raise InvalidValue(
            "%s is less than the kernel's smallest quota, %d microseconds in a period of %d"
            % (text, QUOTA_MIN, scale.period)
        )
    return -(-value.numerator // value.denominator)


def _microseconds_of(text: str) -> int:
    match = _TIME.fullmatch(text)
    if not match:
        raise InvalidValue("%r is not a time such as 20000, 20000us or 20ms" % text)
    return int(match.group(1)) * _TIMES[match.group(2)]


def _list(_knob: Knob, option: Any, _scale: _Scale) -> Value:
    if isinstance(option, bool) or option is None:
        raise InvalidValue("%s is not a list" % quote_value(option))
    parts = option if isinstance(option, (list, tuple)) else [option]
    return tuple(sorted(parse_cpu_list(",".join(str(part) for part in parts))))


def _choice(knob: Knob, option: Any, _scale: _Scale) -> Value:
    if option not in knob.choices:
        raise InvalidValue("%s is unknown" % quote_value(option))
    return str(option)


def _devices(knob: Knob, option: Any, scale: _Scale) -> Value:
    if not isinstance(option, Mapping):
        raise InvalidValue("%s is not a mapping of devices" % quote_value(option))
    return device_limits.to_neutral(
        {_device(str(name), scale.capacity): _limits(knob, str(name), limits) for name, limits in option.items()}
    )


def _device(name: str, capacity: Capacity) -> str:
    number = name if _DEVICE.fullmatch(name) else capacity.devices.get(name)
    if number is None:
        raise InvalidValue("%s is not a block device of this node" % name)
    return number


def _limits(knob: Knob, device: str, option: Any) -> dict[str, int]:
    if not isinstance(option, Mapping) or not set(option) <= set(device_limits.KINDS):
        raise InvalidValue("%s: %s is not a mapping of limits" % (device, quote_value(option)))
    parsed = {}
    for kind, amount in option.items():
        text = _text(amount)
        if text == "max":
            continue
        number = parse_quantity(text)
        if number.denominator != 1 or number < 1:
            raise InvalidValue("%s: %s of %s is out of range" % (device, kind, text))
        _check_range(knob, int(number))
        parsed[str(kind)] = int(number)
    return parsed


Parser = Callable[[Knob, Any, _Scale], Value]
_PARSERS: Mapping[Kind, Parser] = {
    Kind.INTEGER: _integer,
    Kind.BOOLEAN: _boolean,
    Kind.BYTES: _bytes,
    Kind.CPU_TIME: _cpu_time,
    Kind.MICROSECONDS: lambda _knob, option, _scale: _microseconds_of(_text(option)),
    Kind.CPUS: _list,
    Kind.CHOICE: _choice,
    Kind.DEVICES: _devices,
}
_WORDS: Mapping[Kind, Callable[[Knob], str]] = {
    Kind.INTEGER: lambda knob: "a whole number (%s) from %s to %s" % (knob.unit, knob.minimum, knob.maximum),
    Kind.BOOLEAN: lambda _knob: "true or false",
    Kind.BYTES: lambda knob: (
        "bytes from %s to %s, for example 4Gi, 500M or 50%% of the memory" % (knob.minimum, knob.maximum)
    ),
    Kind.CPU_TIME: lambda _knob: (
        "CPUs, at most 8192, for example 2.5, 1500m, 50% of the CPUs, or 250000us of each period"
    ),
    Kind.MICROSECONDS: lambda knob: (
        "microseconds from %s to %s, for example 20000 or 20ms" % (knob.minimum, knob.maximum)
    ),
    Kind.CPUS: lambda knob: "numbers of %s from 0 to %s, for example 0-3,8" % (knob.unit, knob.maximum),
    Kind.CHOICE: lambda knob: "one of %s" % ", ".join(knob.choices),
    Kind.DEVICES: lambda _knob: (
        "a mapping of devices, /dev/sda or 8:0, to any of rbps, wbps (bytes a second), riops or wiops"
        " (operations a second), each at least 1, for example 10M, or max"
    ),
}


def render_value(knob: Knob, value: Any) -> str:
    """A neutral value in the user's units: ``max``, ``1.5`` CPUs, ``512Mi``, ``0-3,8``, ``8:0 rbps=1048576``."""
    if value is None:
        return "max"
    if knob.kind is Kind.BYTES:
        return format_bytes(value)
    if knob.kind is Kind.CPU_TIME:
        return ("%d.%06d" % divmod(value, SECOND)).rstrip("0").rstrip(".")
    if isinstance(value, bool):
        return "1" if value else "0"
    if not isinstance(value, tuple):
        return str(value)
    if value and isinstance(value[0], tuple):
        return ", ".join(_render_device(device) for device in value)
    return format_cpu_list(frozenset(value)) or "none"


def _render_device(limits: Any) -> str:
    device, amounts = limits
    return " ".join([device, *(f"{name}={number}" for name, number in amounts)])
