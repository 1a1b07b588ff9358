# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Arguments of systemd_slice, and other files at the paths that it writes."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ansible_collections.volcano.colocation.tests.unit.malformed.case import Case, Text, as_it_is

DIRECTORY = "etc/systemd/system"
FILE = f"{DIRECTORY}/a.slice"
LINK = f"{DIRECTORY}/slices.target.wants/a.slice"


def _name(name: Any, message: str) -> Case:
    return Case("systemd_slice", {"name": name}, ("is not the name of a slice", message))


def _property(message: str, **properties: Any) -> Case:
    name = next(iter(properties))
    options = {"name": "a.slice", "properties": properties}
    return Case("systemd_slice", options, (f"{name}: ", "is not what systemd takes", message))


def _option(message: str, **options: Any) -> Case:
    return Case("systemd_slice", {"name": "a.slice", **options}, (message,))


def _place(
    message: str, remedy: str, files: dict[str, Text] | None = None, spoil: Callable[[Path], Any] = as_it_is
) -> Case:
    options = {"name": "a.slice", "properties": {"CPUWeight": 5}}
    return Case("systemd_slice", options, (message, remedy), files or {}, spoil)


def _linked(root: Path) -> None:
    (root / DIRECTORY).mkdir(parents=True)
    (root / FILE).symlink_to("/dev/null")


def _wanted_otherwise(root: Path) -> None:
    (root / LINK).parent.mkdir(parents=True)
    (root / LINK).symlink_to("/x")


def _piped(root: Path) -> None:
    (root / DIRECTORY).mkdir(parents=True)
    os.mkfifo(root / FILE)


def _led_out(root: Path) -> None:
    outside = root.parent / "outside"
    (outside / "system").mkdir(parents=True)
    (root / "etc/systemd").symlink_to(outside)


WEIGHT = "Use a weight from 1 to 10000"
BYTES = "Use bytes such as 1073741824"

CASES = {
    "name without an ending": _name("x", "write x.slice"),
    "no name": _name("", "It does not end with .slice"),
    "path for a name": _name("../x.slice", "It is a path"),
    "name with a space": _name("a b.slice", "write a\\x20b.slice"),
    "level without a name": _name("a--b.slice", "It has a level without a name"),
    "name that is too long": _name("x" * 300 + ".slice", "It "),
    "name with NUL": _name("a\0b.slice", "It has '\\x00'"),
    "name in two lines": _name("a\n.slice", "It has '\\n'"),
    "name with a specifier": _name("a%b.slice", "It has '%'"),
    "template for a name": _name("a@b.slice", "It is a template"),
    "weight 0": _property(WEIGHT, CPUWeight=0),
    "weight 10001": _property(WEIGHT, CPUWeight=10001),
    "weight of a fraction": _property(WEIGHT, CPUWeight=1.5),
    "weight in two lines": _property(WEIGHT, CPUWeight="100\nExecStart=/x"),
    "quota without a per cent": _property("whole percent of one CPU", CPUQuota="50"),
    "quota below 0": _property("whole percent of one CPU", CPUQuota="-5%"),
    "memory of a word": _property(BYTES, MemoryMax="lots"),
    "memory beyond 64 bits": _property(BYTES, MemoryMax="9" * 40),
    "memory above all": _property("Use at most 100%", MemoryMax="200%"),
    "tasks 0": _property("a number of tasks above 0", TasksMax=0),
    "CPUs of a word": _property("a list of numbers such as 0-3,8", AllowedCPUs="a"),
    "CPUs backwards": _property("runs backwards", AllowedCPUs="3-1"),
    "device without a rate": _property("a path such as /dev/vda", IOReadBandwidthMax="/dev/sda"),
    "period 0": _property("a time from 1ms to 1s", CPUQuotaPeriodSec="0"),
    "a program": _option("ExecStart cannot be set on a slice here", properties={"ExecStart": "/bin/sh"}),
    "small letters": _option("cpuweight cannot be set on a slice here", properties={"cpuweight": 5}),
    "outdated property": _option("Use CPUWeight", properties={"CPUShares": 5}),
    "property of a mapping": _option("is not a value", properties={"MemoryHigh": {"a": 1}}),
    "properties of a list": _option("'properties'", properties=["a"]),
    "before no unit": _option("'x' is not the name of a unit", before=["x"]),
    "before two lines": _option("is not the name of a unit", before=["x.service\nExecStart=/y"]),
    "unknown controller": _option("'bogus' is not a controller of the kernel", controllers=["bogus"]),
    "description in two lines": _option("is not one line of printable text", description="a\nExecStart=/x"),
    "unknown state": _option("state must be one of: present, absent", state="gone"),
    "root that is not there": _option("root: '/none/such' is not a directory", root="/none/such"),
    "file of another program": _place(
        f"/{FILE}: volcano.colocation does not manage", "Remove the file", {FILE: "[Slice]\n"}
    ),
    "bytes for a file": _place(
        f"/{FILE}: volcano.colocation does not manage", "Remove the file", {FILE: bytes(range(256))}
    ),
    "directory instead of a file": _place(f"/{FILE}: it is not a regular file", "Name the file", {f"{FILE}/x": "y"}),
    "link for a file": _place(f"/{FILE}: it is a symbolic link", "put a regular file", spoil=_linked),
    "pipe for a file": _place(f"/{FILE}: it is not a regular file", "Name the file", spoil=_piped),
    "file for the link": _place(f"/{LINK}: it is not a symbolic link", "Remove it", {LINK: "x"}),
    "another link": _place(f"/{LINK}: it is a link to /x", "Remove it", spoil=_wanted_otherwise),
    "directory that leads out": _place("which is not a directory", "Create", spoil=_led_out),
}
