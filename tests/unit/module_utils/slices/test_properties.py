# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values in the syntax of systemd.resource-control(5), and the resulting D-Bus properties."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.errors import ColocationError
from ansible_collections.volcano.colocation.plugins.module_utils.slices import properties
from ansible_collections.volcano.colocation.plugins.module_utils.slices.properties import (
    RULES,
    parse_assignments,
    parse_setting,
    parse_settings,
    to_bus_properties,
)
from ansible_collections.volcano.colocation.plugins.module_utils.slices.property_values import Machine
from ansible_collections.volcano.colocation.plugins.module_utils.systemd.dbus_values import INFINITY, Property

MACHINE = Machine(pages=1000001, page=4096, tasks=32768)


@pytest.mark.parametrize(
    ("name", "option", "line", "dbus", "value"),
    [
        ("CPUWeight", 200, "CPUWeight=200", "CPUWeight", 200),
        ("CPUWeight", "idle", "CPUWeight=idle", "CPUWeight", 0),
        ("CPUWeight", None, "CPUWeight=", "CPUWeight", INFINITY),
        ("CPUQuota", "250%", "CPUQuota=250%", "CPUQuotaPerSecUSec", 2500000),
        ("CPUQuota", "", "CPUQuota=", "CPUQuotaPerSecUSec", INFINITY),
        ("CPUQuotaPeriodSec", "10ms", "CPUQuotaPeriodSec=10ms", "CPUQuotaPeriodUSec", 10000),
        ("CPUQuotaPeriodSec", "0.5", "CPUQuotaPeriodSec=0.5", "CPUQuotaPeriodUSec", 500000),
        ("AllowedCPUs", "0-3,8", "AllowedCPUs=0-3,8", "AllowedCPUs", b"\x0f\x01"),
        ("AllowedCPUs", "0-1 9", "AllowedCPUs=0-1 9", "AllowedCPUs", b"\x03\x02"),
        ("AllowedCPUs", [1, 2], "AllowedCPUs=1,2", "AllowedCPUs", b"\x06"),
        ("AllowedCPUs", None, "AllowedCPUs=", "AllowedCPUs", b""),
        ("MemoryHigh", "1.5G", "MemoryHigh=1.5G", "MemoryHigh", 1610612736),
        ("MemoryHigh", 4096, "MemoryHigh=4096", "MemoryHigh", 4096),
        ("MemoryHigh", "infinity", "MemoryHigh=infinity", "MemoryHigh", INFINITY),
        # 500000 whole pages of the 1000001.
        ("MemoryHigh", "50%", "MemoryHigh=50%", "MemoryHigh", 2048000000),
        ("MemoryMax", None, "MemoryMax=infinity", "MemoryMax", INFINITY),
        ("MemoryLow", None, "MemoryLow=0", "MemoryLow", 0),
        ("MemoryLow", "0", "MemoryLow=0", "MemoryLow", 0),
        ("TasksMax", "25%", "TasksMax=25%", "TasksMax", 8192),
        ("TasksMax", None, "TasksMax=infinity", "TasksMax", INFINITY),
        ("TasksAccounting", False, "TasksAccounting=no", "TasksAccounting", False),
        ("IOAccounting", "on", "IOAccounting=on", "IOAccounting", True),
        ("ManagedOOMSwap", "kill", "ManagedOOMSwap=kill", "ManagedOOMSwap", "kill"),
        ("ManagedOOMSwap", None, "ManagedOOMSwap=auto", "ManagedOOMSwap", "auto"),
    ],
)
def test_a_value_in_the_file_and_on_the_bus(name: str, option: Any, line: str, dbus: str, value: Any) -> None:
    parsed = parse_setting(name, option, MACHINE)
    assert parsed.lines == (line,)
    assert parsed.value == Property(dbus, RULES[name].signature, value)


def test_devices_have_a_line_each_after_an_empty_one() -> None:
    parsed = parse_setting("IOReadBandwidthMax", ["/dev/vdb 5", "/dev/vda 10M"], MACHINE)
    assert parsed.lines == (
        "IOReadBandwidthMax=",
        "IOReadBandwidthMax=/dev/vdb 5",
        "IOReadBandwidthMax=/dev/vda 10M",
    )
    assert parsed.value.value == (("/dev/vda", 10000000), ("/dev/vdb", 5))
    assert [item.value for item in to_bus_properties([parsed])] == [(), parsed.value.value]
    (latency,) = parse_settings({"IODeviceLatencyTargetSec": "/dev/vda 25ms"}, MACHINE)
    assert latency.value == Property("IODeviceLatencyTargetUSec", "a(st)", (("/dev/vda", 25000),))


@pytest.mark.parametrize(
    ("name", "option", "message"),
    [
        ("CPUWeight", 10001, "a weight from 1 to 10000"),
        ("CPUWeight", "-1", "a weight from 1 to 10000"),
        ("IOWeight", "idle", "a weight from 1 to 10000"),
        ("CPUQuota", "33.3%", "whole percent"),
        ("CPUQuota", "0%", "whole percent"),
        ("CPUQuota", "2", "whole percent"),
        ("CPUQuotaPeriodSec", "2s", "from 1ms to 1s"),
        ("AllowedCPUs", "3-1", "runs backwards"),
        ("MemoryHigh", "1Gi", "no Gi"),
        ("MemoryHigh", "0", "more than 0 bytes"),
        ("MemoryHigh", "101%", "at most 100%"),
        ("MemoryMax", "99999999E", "bytes such as"),
        ("TasksMax", "0", "a number of tasks above 0"),
        ("TasksAccounting", "maybe", "yes or no"),
        ("ManagedOOMPreference", "some", "none or avoid or omit"),
        ("IODeviceWeight", "/dev/vda", "a path such as /dev/vda"),
        ("IODeviceWeight", "/dev/vda 0", "a weight from 1 to 10000"),
        ("IOReadIOPSMax", "/dev/vda none", "a number such as 10M"),
        ("IODeviceLatencyTargetSec", "/dev/vda soon", "a time such as 25ms"),
        ("CPUWeight", {"a": 1}, "Use a string, a number or a list"),
        ("CPUShares", 1, "Use CPUWeight"),
        ("CPUQuotaPerSecUSec", 1, "Use CPUQuota"),
        ("Delegate", True, "services and scopes only"),
        ("Nice", 1, "Use one of AllowedCPUs"),
    ],
)
def test_values_that_systemd_does_not_accept(name: str, option: Any, message: str) -> None:
    with pytest.raises(ColocationError, match=message) as caught:
        parse_setting(name, option, MACHINE)
    assert name in str(caught.value)


def test_masks_with_empty_bytes_and_devices_in_any_order_are_the_same() -> None:
    assert parse_setting("AllowedCPUs", "0", MACHINE).holds({"AllowedCPUs": b"\x01\x00\x00"})
    assert not parse_setting("AllowedCPUs", "0", MACHINE).holds({"AllowedCPUs": b"\x00\x01"})
    rates = parse_setting("IOWriteIOPSMax", ["/dev/a 1", "/dev/b 2"], MACHINE)
    assert rates.holds({"IOWriteIOPSMax": (("/dev/b", 2), ("/dev/a", 1))})
    assert not rates.holds({})


def test_the_last_assignment_of_a_file_applies_and_devices_are_added() -> None:
    lines = [
        ("CPUWeight", "1"),
        ("CPUWeight", "2"),
        ("IOReadIOPSMax", "/dev/a 1"),
        ("IOReadIOPSMax", ""),
        ("IOReadIOPSMax", "/dev/b 2"),
        ("IOReadIOPSMax", "/dev/c 3"),
        ("Unknown", "x"),
        ("CPUQuota", "33.3%"),
    ]
    parsed = parse_assignments(lines, MACHINE)
    assert {name: item.value.value for name, item in parsed.items()} == {
        "CPUWeight": 2,
        "IOReadIOPSMax": (("/dev/b", 2), ("/dev/c", 3)),
        "CPUQuota": "33.3%",
    }


def test_readable_values() -> None:
    unit = {
        "CPUWeight": INFINITY,
        "AllowedCPUs": b"\x0f\x01",
        "IOReadIOPSMax": (("/dev/a", INFINITY), ("/dev/b", 2)),
        "TasksAccounting": True,
        "Id": "not a setting",
    }
    assert properties.readable_properties(unit) == {
        "CPUWeight": "infinity",
        "AllowedCPUs": "0-3,8",
        "IOReadIOPSMax": {"/dev/a": "infinity", "/dev/b": 2},
        "TasksAccounting": True,
    }
