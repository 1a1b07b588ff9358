# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What people write for a knob, in their units, as its neutral value, and a neutral value as they read it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Callable, Mapping

from ..errors import ColocationError
from ..quantity import format_bytes, format_cpu_list, parse_cpu_list, parse_quantity
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
    """What "50%" is a part of: the node's CPUs and bytes of memory, or those of a reservation.

    ``devices`` has MAJOR:MINOR of each path that stands for a block device in io_max.
    """

    cpus: float
    memory: int
    devices: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Scale:
    capacity: Capacity
    period: int


def parse_value(knob: Knob, given: Any, capacity: Capacity, period: int = 100000) -> Value:
    """The neutral value; ColocationError that names the knob, what was given, the unit and the range.

    ``period`` is that of the cgroup, in microseconds: what "50000us" of CPU are a part of.
    """
    try:
        if str(given).strip() == "max" and knob.unlimited:
            return None
        value = _PARSERS[knob.kind](knob, given, _Scale(capacity, period))
        _check_range(knob, value)
    except ValueError as error:
        raise ColocationError("%s: %s" % (knob.name, error), "It takes %s" % describe_values(knob)) from error
    return value


def device_paths(given: Any) -> tuple[str, ...]:
    """The paths that stand for devices in a value of io_max, for Capacity.devices."""
    names = given if isinstance(given, Mapping) else ()
    return tuple(str(name) for name in names if str(name).startswith("/"))


def describe_values(knob: Knob) -> str:
    """What the knob takes, for people."""
    return _WORDS[knob.kind](knob) + (", or max" if knob.unlimited else "")


def _check_range(knob: Knob, value: Value) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        return
    if (knob.minimum is not None and value < knob.minimum) or (knob.maximum is not None and value > knob.maximum):
        raise ValueError("%s is out of range" % _amount(knob, value))


def _amount(knob: Knob, value: int) -> str:
    return "%g" % (value / SECOND) if knob.kind is Kind.CPU_TIME else str(value)


def _text(given: Any) -> str:
    """One plain value as text; a boolean or a list is neither a number nor an amount."""
    if given is None or isinstance(given, (bool, list, tuple, dict)):
        raise ValueError("%r is no such value" % (given,))
    return str(given).strip()


def _integer(_knob: Knob, given: Any, _scale: _Scale) -> Value:
    text = _text(given)
    if not _WHOLE.fullmatch(text):
        raise ValueError("%r is no whole number" % text)
    return int(text.partition(".")[0])


def _boolean(_knob: Knob, given: Any, _scale: _Scale) -> Value:
    text = str(given).strip().lower()
    if text not in _TRUE + _FALSE:
        raise ValueError("%r is neither true nor false" % (given,))
    return text in _TRUE


def _bytes(_knob: Knob, given: Any, scale: _Scale) -> Value:
    text = _text(given)
    part = _part(text)
    if part is not None:
        return int(part * scale.capacity.memory)
    amount = parse_quantity(text)
    if amount.denominator != 1:
        raise ValueError("%r is not a whole number of bytes" % text)
    return int(amount)


def _part(text: str) -> Fraction | None:
    """0.5 of ``50%``; ValueError above 100%, None for what is no percentage."""
    found = _PERCENT.fullmatch(text)
    if not found:
        return None
    part = Fraction(found.group(1)) / 100
    if part > 1:
        raise ValueError("%s is more than all that there is" % text)
    return part


def _cpu_time(_knob: Knob, given: Any, scale: _Scale) -> Value:
    text = _text(given)
    part = _part(text)
    if part is not None:
        value = part * Fraction(scale.capacity.cpus) * SECOND
    elif text.endswith("us"):
        value = Fraction(_microseconds_of(text) * SECOND, scale.period)
    else:
        value = parse_quantity(text) * SECOND
    if value * scale.period < QUOTA_MIN * SECOND:
        raise ValueError(
            "%s is less than %d microseconds in a period of %d, the smallest quota of the kernel"
            % (text, QUOTA_MIN, scale.period)
        )
    return -(-value.numerator // value.denominator)


def _microseconds_of(text: str) -> int:
    found = _TIME.fullmatch(text)
    if not found:
        raise ValueError("%r is no time such as 20000, 20000us or 20ms" % text)
    return int(found.group(1)) * _TIMES[found.group(2)]


def _list(_knob: Knob, given: Any, _scale: _Scale) -> Value:
    if isinstance(given, bool) or given is None:
        raise ValueError("%r is no list" % (given,))
    parts = given if isinstance(given, (list, tuple)) else [given]
    return tuple(sorted(parse_cpu_list(",".join(str(part) for part in parts))))


def _choice(knob: Knob, given: Any, _scale: _Scale) -> Value:
    if given not in knob.choices:
        raise ValueError("%r is unknown" % (given,))
    return str(given)


def _devices(knob: Knob, given: Any, scale: _Scale) -> Value:
    if not isinstance(given, Mapping):
        raise ValueError("%r is no mapping of devices" % (given,))
    return device_limits.to_neutral(
        {_device(str(name), scale.capacity): _limits(knob, str(name), limits) for name, limits in given.items()}
    )


def _device(name: str, capacity: Capacity) -> str:
    number = name if _DEVICE.fullmatch(name) else capacity.devices.get(name)
    if number is None:
        raise ValueError("%s is no block device of this node" % name)
    return number


def _limits(knob: Knob, device: str, given: Any) -> dict[str, int]:
    if not isinstance(given, Mapping) or not set(given) <= set(device_limits.KINDS):
        raise ValueError("%s: %r are no limits" % (device, given))
    found = {}
    for kind, amount in given.items():
        text = _text(amount)
        if text == "max":
            continue
        number = parse_quantity(text)
        if number.denominator != 1 or number < 1:
            raise ValueError("%s: %s of %s is out of range" % (device, kind, text))
        _check_range(knob, int(number))
        found[str(kind)] = int(number)
    return found


Parser = Callable[[Knob, Any, _Scale], Value]
_PARSERS: Mapping[Kind, Parser] = {
    Kind.INTEGER: _integer,
    Kind.BOOLEAN: _boolean,
    Kind.BYTES: _bytes,
    Kind.CPU_TIME: _cpu_time,
    Kind.MICROSECONDS: lambda _knob, given, _scale: _microseconds_of(_text(given)),
    Kind.CPUS: _list,
    Kind.CHOICE: _choice,
    Kind.DEVICES: _devices,
}
_WORDS: Mapping[Kind, Callable[[Knob], str]] = {
    Kind.INTEGER: lambda knob: "a %s from %s to %s" % (knob.unit, knob.minimum, knob.maximum),
    Kind.BOOLEAN: lambda _knob: "true or false",
    Kind.BYTES: lambda knob: (
        "bytes, from %s to %s, as in 4Gi, 500M or 50%% of the memory" % (knob.minimum, knob.maximum)
    ),
    Kind.CPU_TIME: lambda _knob: "CPUs, at most 8192, as in 2.5, 1500m or 50% of the CPUs, or 250000us of each period",
    Kind.MICROSECONDS: lambda knob: "microseconds, from %s to %s, as in 20000 or 20ms" % (knob.minimum, knob.maximum),
    Kind.CPUS: lambda knob: "numbers of %s from 0 to %s, as in 0-3,8" % (knob.unit, knob.maximum),
    Kind.CHOICE: lambda knob: "one of %s" % ", ".join(knob.choices),
    Kind.DEVICES: lambda _knob: (
        "for each device, /dev/sda or 8:0, any of rbps, wbps (bytes a second), riops, wiops (operations a second) "
        "with 1 or more, 10M, or max"
    ),
}


def render_value(knob: Knob, value: Any) -> str:
    """A neutral value as a person writes it: ``max``, ``1.5`` CPUs, ``512Mi``, ``0-3,8``, ``8:0 rbps=1048576``."""
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
        return ", ".join(_render_device(each) for each in value)
    return format_cpu_list(frozenset(value)) or "none"


def _render_device(limits: Any) -> str:
    device, each = limits
    return " ".join([device, *(f"{name}={number}" for name, number in each)])
