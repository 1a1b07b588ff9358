# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Calls to systemd's D-Bus interface org.freedesktop.systemd1 through busctl, which is part of systemd.

Source: systemd man/org.freedesktop.systemd1.xml.
"""

from __future__ import annotations

import re
from typing import Any, Sequence

from ..errors import ColocationError
from ..host import CommandResult, Host
from . import dbus_values
from .dbus_values import INFINITY, Property

__all__ = ["INFINITY", "Bus", "BusError", "Property", "object_path"]

SERVICE = "org.freedesktop.systemd1"
MANAGER = "/org/freedesktop/systemd1"
TIMEOUT = 30.0
# systemd's own timeout of a job is 90 s by default (DefaultTimeoutStartSec).
JOB_TIMEOUT = 180.0
ANY_INTERFACE = ""


class BusError(ColocationError):
    """systemd refused a call, or did not reply."""


def object_path(unit: str) -> str:
    """The path of a unit on the bus: systemd src/basic/bus-label.c bus_label_escape()."""
    escaped = "".join(
        character if _plain(character, place) else "".join(f"_{byte:02x}" for byte in character.encode())
        for place, character in enumerate(unit)
    )
    return f"{MANAGER}/unit/{escaped or '_'}"


def _plain(character: str, place: int) -> bool:
    return character.isascii() and (character.isalpha() or (place > 0 and character.isdigit()))


class Bus:
    """Calls to the node's systemd; each method runs one program."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def version(self) -> int:
        """systemd's major version. Examples of its text: "252.38-1~deb12u1", "v245.4-4ubuntu3", "239 (239-82.el8)"."""
        text = self._call(MANAGER, "org.freedesktop.DBus.Properties", "Get", "ss", SERVICE + ".Manager", "Version")
        match = re.match(r"v?(\d+)", str(dbus_values.decode(text)))
        if match is None:
            raise BusError(f"systemd reports {text.strip()} instead of a version", "Check systemd on this node")
        return int(match[1])

    def get(self, unit: str, interface: str, names: Sequence[str]) -> dict[str, Any]:
        """Values by name of the properties that this systemd has.

        ``interface``: "Slice", "Unit", "Scope", "Service", or ANY_INTERFACE for all interfaces of the unit.
        ``t``: int (INFINITY for unset), ``b``: bool, ``s``: str, ``ay``: bytes, ``a(st)``: tuple of pairs.
        """
        full = interface and f"{SERVICE}.{interface}"
        # busctl get-property would stop at an unknown property; systemctl show uses GetAll, too.
        text = self._call(object_path(unit), "org.freedesktop.DBus.Properties", "GetAll", "s", full)
        values = dbus_values.decode(text)
        return {name: values[name] for name in names if name in values}

    def set(self, unit: str, properties: Sequence[Property]) -> None:
        """One SetUnitProperties call with runtime=true, which sets all of the properties or none.

        systemd keeps the values below /run/systemd until the next boot.
        """
        parts = [unit, "true", str(len(properties))]
        for property_ in properties:
            parts += [property_.name, *dbus_values.arguments(property_)]
        self._call(MANAGER, SERVICE + ".Manager", "SetUnitProperties", "sba(sv)", *parts)

    def start(self, unit: str) -> None:
        """Start a unit and wait for it."""
        self._job("start", unit)

    def stop(self, unit: str) -> None:
        """Stop a unit and wait until it has stopped."""
        self._job("stop", unit)

    def reload(self) -> None:
        """Make systemd read all unit files again."""
        result = self._host.run(["systemctl", "daemon-reload"], timeout=JOB_TIMEOUT)
        if result.rc != 0:
            raise BusError(f"systemctl daemon-reload failed: {_reason(result)}", "See journalctl on the node")

    def _call(self, path: str, interface: str, method: str, signature: str, *parts: str) -> str:
        argv = ["busctl", "--system", "--", "call", SERVICE, path, interface, method, signature, *parts]
        result = self._host.run(argv, timeout=TIMEOUT)
        if result.rc != 0:
            subject = path.rpartition("/")[2] if method == "GetAll" else parts[0]
            raise BusError(f"systemd refused {method} of {subject}: {_reason(result)}", _remedy(result))
        return result.stdout

    def _job(self, verb: str, unit: str) -> None:
        result = self._host.run(["systemctl", "--no-ask-password", verb, "--", unit], timeout=JOB_TIMEOUT)
        if result.rc != 0:
            raise BusError(
                f"systemctl {verb} {unit} failed: {_reason(result)}", f"See journalctl --unit {unit} on the node"
            )


def _reason(result: CommandResult) -> str:
    # Without the second sentence: its commands are in the remedy.
    text = " ".join(result.stderr.split()).partition(" See ")[0].rstrip(".")
    return text.replace("Call failed: ", "") or f"exit status {result.rc}"


def _remedy(result: CommandResult) -> str:
    if result.rc is None:
        return "Check that busctl, which is part of systemd, is installed on this node"
    if "connect to bus" in result.stderr:
        return "Start the D-Bus system bus on this node (systemctl start dbus)"
    return "Check the unit with systemctl status on this node"
