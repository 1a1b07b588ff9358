# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The resource-control properties of slices: systemd.resource-control(5), org.freedesktop.systemd1(5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable, Mapping, Sequence

from ..errors import ColocationError, value_problem
from ..quantity import format_cpu_list
from ..systemd.dbus_values import INFINITY, Property, PropertyValue
from . import property_values as values
from .property_values import Machine


@dataclass(frozen=True)
class Rule:
    """One property. ``reset`` is the text in a unit file for systemd's default, which has the value ``default``.

    An empty assignment is not always the default: TasksMax= in a slice results in DefaultTasksMax, and MemoryLow= in
    infinity with systemd 239 (src/core/load-fragment.c).
    """

    dbus: str
    signature: str
    read: values.Reader
    default: PropertyValue
    reset: str
    since: int


@dataclass(frozen=True)
class Setting:
    """A desired property: its lines in the unit file, and the resulting D-Bus property."""

    name: str
    lines: tuple[str, ...]
    value: Property

    def holds(self, unit: Mapping[str, Any]) -> bool:
        """Whether a unit's D-Bus properties have the same value."""
        return self.value.name in unit and values.comparable(unit[self.value.name]) == values.comparable(
            self.value.value
        )


def _bytes(name: str, default: int, since: int, read: values.Reader) -> tuple[str, Rule]:
    return name, Rule(name, "t", read, default, "infinity" if default else "0", since)


def _weight(name: str, since: int, read: values.Reader) -> tuple[str, Rule]:
    return name, Rule(name, "t", read, INFINITY, "", since)


def _mask(name: str, since: int) -> tuple[str, Rule]:
    return name, Rule(name, "ay", values.mask, b"", "", since)


def _accounting(name: str, reset: str) -> tuple[str, Rule]:
    return name, Rule(name, "b", values.boolean, reset == "yes", reset, 230)


def _rate(name: str) -> tuple[str, Rule]:
    return name, Rule(name, "a(st)", values.per_device(values.device_rate, "a rate such as 10M"), (), "", 230)


def _choice(name: str, since: int, *words: str) -> tuple[str, Rule]:
    return name, Rule(name, "s", values.choice(*words), words[0], words[0], since)


RULES: Mapping[str, Rule] = dict(
    (
        _weight("CPUWeight", 232, values.cpu_weight),
        _weight("StartupCPUWeight", 232, values.cpu_weight),
        ("CPUQuota", Rule("CPUQuotaPerSecUSec", "t", values.quota, INFINITY, "", 213)),
        ("CPUQuotaPeriodSec", Rule("CPUQuotaPeriodUSec", "t", values.period, INFINITY, "", 242)),
        _mask("AllowedCPUs", 244),
        _mask("StartupAllowedCPUs", 252),
        _mask("AllowedMemoryNodes", 244),
        _mask("StartupAllowedMemoryNodes", 252),
        _bytes("MemoryMin", 0, 240, values.any_bytes),
        _bytes("MemoryLow", 0, 231, values.any_bytes),
        _bytes("MemoryHigh", INFINITY, 231, values.positive_bytes),
        _bytes("MemoryMax", INFINITY, 231, values.positive_bytes),
        _bytes("MemorySwapMax", INFINITY, 232, values.any_bytes),
        _bytes("MemoryZSwapMax", INFINITY, 253, values.any_bytes),
        ("TasksMax", Rule("TasksMax", "t", values.tasks, INFINITY, "infinity", 227)),
        _weight("IOWeight", 230, values.weight),
        _weight("StartupIOWeight", 230, values.weight),
        (
            "IODeviceWeight",
            Rule("IODeviceWeight", "a(st)", values.per_device(values.device_weight, "a weight"), (), "", 230),
        ),
        _rate("IOReadBandwidthMax"),
        _rate("IOWriteBandwidthMax"),
        _rate("IOReadIOPSMax"),
        _rate("IOWriteIOPSMax"),
        (
            "IODeviceLatencyTargetSec",
            Rule("IODeviceLatencyTargetUSec", "a(st)", values.per_device(values.device_latency, "a time"), (), "", 240),
        ),
        _accounting("CPUAccounting", "no"),
        _accounting("IOAccounting", "no"),
        _accounting("MemoryAccounting", "yes"),
        _accounting("TasksAccounting", "yes"),
        _choice("ManagedOOMSwap", 247, "auto", "kill"),
        _choice("ManagedOOMMemoryPressure", 247, "auto", "kill"),
        _choice("ManagedOOMPreference", 248, "none", "avoid", "omit"),
    )
)

_INSTEAD = {
    "CPUShares": "CPUWeight",
    "StartupCPUShares": "StartupCPUWeight",
    "MemoryLimit": "MemoryMax",
    "BlockIOWeight": "IOWeight",
    "BlockIOReadBandwidth": "IOReadBandwidthMax",
    "BlockIOWriteBandwidth": "IOWriteBandwidthMax",
    "CPUQuotaPerSecUSec": "CPUQuota",
    "CPUQuotaPeriodUSec": "CPUQuotaPeriodSec",
    "IODeviceLatencyTargetUSec": "IODeviceLatencyTargetSec",
}
_UNSUPPORTED = {"Delegate": "systemd delegates services and scopes only, never slices: systemd.resource-control(5)"}


def parse_settings(options: Mapping[str, Any], machine: Machine) -> tuple[Setting, ...]:
    """The settings, sorted by name; a ColocationError names the property, the value and the expected format."""
    return tuple(parse_setting(name, options[name], machine) for name in sorted(options))


def parse_setting(name: str, option: Any, machine: Machine) -> Setting:
    rule = _rule(name)
    text = _text(name, option)
    if not text:
        return default_setting(name)
    try:
        value = rule.read(text, machine)
    except ValueError as error:
        raise ColocationError(
            f"{name}: {text!r} is not a value that systemd accepts", f"Use {value_problem(error)}"
        ) from error
    return Setting(name, _lines(name, rule, text), Property(rule.dbus, rule.signature, value))


def default_setting(name: str) -> Setting:
    """An explicit assignment of systemd's default: deleting the line would not change an active unit."""
    rule = _rule(name)
    return Setting(name, (f"{name}={rule.reset}",), Property(rule.dbus, rule.signature, rule.default))


def parse_assignments(lines: Iterable[tuple[str, str]], machine: Machine) -> Mapping[str, Setting]:
    """The effective settings of a file by property: an empty assignment drops earlier ones, systemd.syntax(7).

    A value that cannot be parsed here stays text, which differs from every other value.
    """
    texts: dict[str, list[str]] = {}
    for name, text in lines:
        if name in RULES:
            several = RULES[name].signature == "a(st)" and text
            texts[name] = [*(texts.get(name, []) if several else []), text]
    return {name: _setting_or_text(name, "\n".join(filter(None, values)), machine) for name, values in texts.items()}


def _setting_or_text(name: str, text: str, machine: Machine) -> Setting:
    if not text:
        return default_setting(name)
    try:
        return parse_setting(name, text, machine)
    except ColocationError:
        return Setting(name, (f"{name}={text}",), Property(RULES[name].dbus, "s", text))


def to_bus_properties(settings: Sequence[Setting]) -> tuple[Property, ...]:
    """The arguments of a SetUnitProperties call. A list of devices is appended unless an empty list precedes it.

    Source: systemd src/core/dbus-cgroup.c bus_cgroup_set_property().
    """
    properties: list[Property] = []
    for setting in settings:
        if setting.value.signature == "a(st)" and setting.value.value:
            properties.append(Property(setting.value.name, setting.value.signature, ()))
        properties.append(setting.value)
    return tuple(properties)


def _rule(name: str) -> Rule:
    if name in RULES:
        return RULES[name]
    if name in _INSTEAD:
        raise ColocationError(f"{name} is not a property of unit files, or is outdated", f"Use {_INSTEAD[name]}")
    raise ColocationError(
        f"{name} cannot be set on a slice here",
        _UNSUPPORTED.get(name, f"Use one of {', '.join(sorted(RULES))}"),
    )


def _text(name: str, option: Any) -> str:
    if option is None:
        return ""
    if isinstance(option, bool):
        return "yes" if option else "no"
    if isinstance(option, (list, tuple)):
        separator = "\n" if _rule(name).signature == "a(st)" else ","
        return separator.join(str(item).strip() for item in option)
    if isinstance(option, (int, float, str)):
        return str(option).strip()
    raise ColocationError(f"{name}: {option!r} is not a value", "Use a string, a number or a list")


def _lines(name: str, rule: Rule, text: str) -> tuple[str, ...]:
    # No escaping of %: systemd does not expand specifiers in resource control settings (config_parse_*).
    if rule.signature == "a(st)":
        return (f"{name}=", *(f"{name}={line.strip()}" for line in text.splitlines()))
    return (f"{name}={text}",)


def to_readable(value: Any) -> Any:
    """A value for the user: ``infinity`` for its number, a list of CPUs or nodes for a mask, a dict for devices."""
    if isinstance(value, bytes):
        return format_cpu_list(frozenset(_numbers(value)))
    if isinstance(value, tuple):
        return {path: to_readable(number) for path, number in value}
    if isinstance(value, int) and value == INFINITY:
        return "infinity"
    return value


def readable_properties(unit: Mapping[str, Any]) -> dict[str, Any]:
    """The resource-control properties of a unit, with the names of systemctl show."""
    return {rule.dbus: to_readable(unit[rule.dbus]) for rule in RULES.values() if rule.dbus in unit}


def _numbers(mask: bytes) -> list[int]:
    return [place * 8 + bit for place, byte in enumerate(mask) for bit in range(8) if byte & 1 << bit]
