# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The resource-control properties of slices: systemd.resource-control(5), org.freedesktop.systemd1(5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable, Mapping, Sequence

from ..errors import ColocationError
from ..quantity import format_cpu_list
from ..systemd.dbus_values import INFINITY, Property, PropertyValue
from . import property_values as values
from .property_values import Machine


@dataclass(frozen=True)
class Rule:
    """One property. ``reset``: what is written into a file for systemd's default; it means ``default``.

    An empty assignment is not that everywhere: TasksMax= in a slice gives DefaultTasksMax, and MemoryLow= is infinity
    in systemd 239 (src/core/load-fragment.c).
    """

    dbus: str
    signature: str
    read: values.Reader
    default: PropertyValue
    reset: str
    since: int


@dataclass(frozen=True)
class Setting:
    """A property as asked for: the lines of its unit file, and what the D-Bus property then holds."""

    name: str
    lines: tuple[str, ...]
    value: Property

    def holds(self, found: Mapping[str, Any]) -> bool:
        """Whether a unit's D-Bus properties say the same."""
        return self.value.name in found and values.comparable(found[self.value.name]) == values.comparable(
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


def parse_settings(given: Mapping[str, Any], machine: Machine) -> tuple[Setting, ...]:
    """What was asked for, by name; ColocationError that names the property, the value and what is wanted."""
    return tuple(parse_setting(name, given[name], machine) for name in sorted(given))


def parse_setting(name: str, given: Any, machine: Machine) -> Setting:
    rule = _rule(name)
    text = _text(name, given)
    if not text:
        return default_setting(name)
    try:
        value = rule.read(text, machine)
    except ValueError as error:
        raise ColocationError(f"{name}: {text!r} is not what systemd takes", f"Give {error}") from error
    return Setting(name, _lines(name, rule, text), Property(rule.dbus, rule.signature, value))


def default_setting(name: str) -> Setting:
    """systemd's own default, said so explicitly: a line that is merely gone leaves an active unit as it is."""
    rule = _rule(name)
    return Setting(name, (f"{name}={rule.reset}",), Property(rule.dbus, rule.signature, rule.default))


def parse_assignments(lines: Iterable[tuple[str, str]], machine: Machine) -> Mapping[str, Setting]:
    """What a file's assignments add up to, by property: an empty one drops those before it, systemd.syntax(7).

    A value that is not understood here stays the text that it is, and equals no other.
    """
    texts: dict[str, list[str]] = {}
    for name, text in lines:
        if name in RULES:
            several = RULES[name].signature == "a(st)" and text
            texts[name] = [*(texts.get(name, []) if several else []), text]
    return {name: _setting_or_text(name, "\n".join(filter(None, each)), machine) for name, each in texts.items()}


def _setting_or_text(name: str, text: str, machine: Machine) -> Setting:
    if not text:
        return default_setting(name)
    try:
        return parse_setting(name, text, machine)
    except ColocationError:
        return Setting(name, (f"{name}={text}",), Property(RULES[name].dbus, "s", text))


def to_bus_properties(wanted: Sequence[Setting]) -> tuple[Property, ...]:
    """The arguments of a SetUnitProperties call. A list of devices adds to what is there, unless an empty one is first.

    Source: systemd src/core/dbus-cgroup.c bus_cgroup_set_property().
    """
    found: list[Property] = []
    for each in wanted:
        if each.value.signature == "a(st)" and each.value.value:
            found.append(Property(each.value.name, each.value.signature, ()))
        found.append(each.value)
    return tuple(found)


def _rule(name: str) -> Rule:
    if name in RULES:
        return RULES[name]
    if name in _INSTEAD:
        raise ColocationError(f"{name} is not a property of unit files, or an outdated one", f"Use {_INSTEAD[name]}")
    raise ColocationError(
        f"{name} cannot be set on a slice here",
        _UNSUPPORTED.get(name, f"The properties are: {', '.join(sorted(RULES))}"),
    )


def _text(name: str, given: Any) -> str:
    if given is None:
        return ""
    if isinstance(given, bool):
        return "yes" if given else "no"
    if isinstance(given, (list, tuple)):
        separator = "\n" if _rule(name).signature == "a(st)" else ","
        return separator.join(str(each).strip() for each in given)
    if isinstance(given, (int, float, str)):
        return str(given).strip()
    raise ColocationError(f"{name}: {given!r} is no value", "Give a text, a number or a list")


def _lines(name: str, rule: Rule, text: str) -> tuple[str, ...]:
    # In unit files a per cent sign is one, systemd expands none in resource control: config_parse_* without specifiers.
    if rule.signature == "a(st)":
        return (f"{name}=", *(f"{name}={line.strip()}" for line in text.splitlines()))
    return (f"{name}={text}",)


def to_readable(value: Any) -> Any:
    """``infinity`` for the number that means it, a list of CPUs or nodes for a mask, a dict for devices."""
    if isinstance(value, bytes):
        return format_cpu_list(frozenset(_numbers(value)))
    if isinstance(value, tuple):
        return {path: to_readable(number) for path, number in value}
    if isinstance(value, int) and value == INFINITY:
        return "infinity"
    return value


def readable_properties(unit: Mapping[str, Any]) -> dict[str, Any]:
    """The resource-control properties of a unit, under the names that systemctl show gives them."""
    return {rule.dbus: to_readable(unit[rule.dbus]) for rule in RULES.values() if rule.dbus in unit}


def _numbers(mask: bytes) -> list[int]:
    return [place * 8 + bit for place, byte in enumerate(mask) for bit in range(8) if byte & 1 << bit]
