# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits of block devices: the lines of io.max and blkio.throttle.*, and systemd's properties.

A text has one line for each device whose limits change. The kernel accepts one line at a time (block/blk-throttle.c
tg_set_limit): write each line with a separate write(2).
"""

from __future__ import annotations

import re
from typing import Any, Callable, Mapping, Sequence

from ..systemd.dbus_values import INFINITY, Property
from .knob import Devices, Form

KINDS = ("rbps", "wbps", "riops", "wiops")
"""Bytes and operations a second, read and written: Documentation/admin-guide/cgroup-v2.rst io.max."""

THROTTLE_FILES = {
    "rbps": "blkio.throttle.read_bps_device",
    "wbps": "blkio.throttle.write_bps_device",
    "riops": "blkio.throttle.read_iops_device",
    "wiops": "blkio.throttle.write_iops_device",
}
THROTTLE_FORMS = {
    Form.THROTTLE_RBPS: "rbps",
    Form.THROTTLE_WBPS: "wbps",
    Form.THROTTLE_RIOPS: "riops",
    Form.THROTTLE_WIOPS: "wiops",
}
PROPERTIES = {
    "rbps": "IOReadBandwidthMax",
    "wbps": "IOWriteBandwidthMax",
    "riops": "IOReadIOPSMax",
    "wiops": "IOWriteIOPSMax",
}
_NODE = "/dev/block/"
"""Directory of udev's links by number; systemd accepts them as the path of a device."""
_NUMBER = re.compile(_NODE + r"(\d+:\d+)")

Texts = Mapping[str, str]


def to_neutral(limits: Mapping[str, Mapping[str, int]]) -> Devices:
    """The neutral value of io_max; devices without a limit are omitted."""
    return tuple((device, tuple(sorted(limits[device].items()))) for device in sorted(limits) if limits[device])


def parse_io_max(text: str) -> Devices:
    """Parse the lines of io.max: ``8:0 rbps=1048576 wbps=max riops=max wiops=100``."""
    limits_by_device = {}
    for line in text.splitlines():
        device, *pairs = line.split()
        parts = [pair.split("=") for pair in pairs]
        limits_by_device[device] = {kind: int(limit) for kind, limit in parts if limit != "max"}
    return to_neutral(limits_by_device)


def render_io_max(value: Any, texts: Texts) -> str:
    """A line for each device that has limits before or after the write."""
    desired = dict(value)
    before = dict(parse_io_max(texts.get("io.max", "")))
    lines = []
    for device in sorted({*desired, *before}):
        limits = dict(desired.get(device, ()))
        lines.append("%s %s" % (device, " ".join("%s=%s" % (kind, limits.get(kind, "max")) for kind in KINDS)))
    return "\n".join(lines)


def parse_throttle(_text: str, texts: Texts) -> Devices:
    """Parse the lines of all four files: ``8:0 1048576``."""
    limits_by_device: dict[str, dict[str, int]] = {}
    for kind, name in THROTTLE_FILES.items():
        for line in texts.get(name, "").splitlines():
            device, limit = line.split()
            if int(limit):
                limits_by_device.setdefault(device, {})[kind] = int(limit)
    return to_neutral(limits_by_device)


def throttle_writer(kind: str) -> Callable[[Any, Texts], str]:
    """A function that renders one file; 0 lifts a limit (Documentation/admin-guide/cgroup-v1/blkio-controller.rst)."""

    def write(value: Any, texts: Texts) -> str:
        desired = dict(value)
        before = [line.split()[0] for line in texts.get(THROTTLE_FILES[kind], "").splitlines()]
        devices = {*before, *(device for device in desired if kind in dict(desired[device]))}
        return "\n".join("%s %d" % (device, dict(desired.get(device, ())).get(kind, 0)) for device in sorted(devices))

    return write


def to_properties(value: Devices, names: Sequence[str], signature: str) -> tuple[Property, ...]:
    """Each property twice: the empty array removes existing limits (src/core/dbus-cgroup.c)."""
    properties = []
    for kind, name in zip(KINDS, names):
        limits = tuple(
            (device if device.startswith("/") else _NODE + device, dict(device_limits)[kind])
            for device, device_limits in value
            if kind in dict(device_limits)
        )
        properties += [Property(name, signature, ()), *([Property(name, signature, limits)] if limits else [])]
    return tuple(properties)


def from_properties(values: Mapping[str, Any]) -> Devices:
    """Limits by device: its number if the property has a path below /dev/block, otherwise the path in the property."""
    limits_by_device: dict[str, dict[str, int]] = {}
    for kind, name in PROPERTIES.items():
        for path, limit in values[name]:
            by_number = _NUMBER.fullmatch(path)
            if limit != INFINITY:
                limits_by_device.setdefault(by_number.group(1) if by_number else path, {})[kind] = limit
    return to_neutral(limits_by_device)
