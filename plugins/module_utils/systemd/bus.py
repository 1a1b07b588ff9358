# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""systemd's D-Bus interface org.freedesktop.systemd1, spoken through busctl, which ships with systemd itself.

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
# systemd's own limit for one job is 90 s by default (DefaultTimeoutStartSec).
JOB_TIMEOUT = 180.0
ANY_INTERFACE = ""


class BusError(ColocationError):
    """systemd refused a call, or did not answer."""


def object_path(unit: str) -> str:
    """Where a unit lies on the bus: systemd src/basic/bus-label.c bus_label_escape()."""
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
        """systemd's major version. It announces "252.38-1~deb12u1", "v245.4-4ubuntu3" or "239 (239-82.el8)"."""
        text = self._call(MANAGER, "org.freedesktop.DBus.Properties", "Get", "ss", SERVICE + ".Manager", "Version")
        found = re.match(r"v?(\d+)", str(dbus_values.decode(text)))
        if found is None:
            raise BusError(f"systemd announces no version but {text.strip()}", "Check systemd on this node")
        return int(found[1])

    def get(self, unit: str, interface: str, names: Sequence[str]) -> dict[str, Any]:
        """Values by name of those properties that this systemd knows.

        ``interface``: "Slice", "Unit", "Scope", "Service", or ANY_INTERFACE for all that the unit has.
        ``t``: int (INFINITY for unset), ``b``: bool, ``s``: str, ``ay``: bytes, ``a(st)``: tuple of pairs.
        """
        full = interface and f"{SERVICE}.{interface}"
        # One property that is not known would make busctl get-property stop; systemctl show asks in this way, too.
        text = self._call(object_path(unit), "org.freedesktop.DBus.Properties", "GetAll", "s", full)
        found = dbus_values.decode(text)
        return {name: found[name] for name in names if name in found}

    def set(self, unit: str, properties: Sequence[Property]) -> None:
        """One SetUnitProperties call with runtime=true: all of the properties or none.

        systemd keeps the values below /run/systemd until the next boot.
        """
        parts = [unit, "true", str(len(properties))]
        for each in properties:
            parts += [each.name, *dbus_values.arguments(each)]
        self._call(MANAGER, SERVICE + ".Manager", "SetUnitProperties", "sba(sv)", *parts)

    def start(self, unit: str) -> None:
        """Start a unit and wait for it."""
        self._job("start", unit)

    def stop(self, unit: str) -> None:
        """Stop a unit and wait until it is down."""
        self._job("stop", unit)

    def reload(self) -> None:
        """Have systemd read all unit files again."""
        answer = self._host.run(["systemctl", "daemon-reload"], timeout=JOB_TIMEOUT)
        if answer.rc != 0:
            raise BusError(f"systemctl daemon-reload failed: {_reason(answer)}", "See journalctl on the node")

    def _call(self, path: str, interface: str, method: str, signature: str, *parts: str) -> str:
        argv = ["busctl", "--system", "--", "call", SERVICE, path, interface, method, signature, *parts]
        answer = self._host.run(argv, timeout=TIMEOUT)
        if answer.rc != 0:
            subject = path.rpartition("/")[2] if method == "GetAll" else parts[0]
            raise BusError(f"systemd refused {method} of {subject}: {_reason(answer)}", _remedy(answer))
        return answer.stdout

    def _job(self, verb: str, unit: str) -> None:
        answer = self._host.run(["systemctl", "--no-ask-password", verb, "--", unit], timeout=JOB_TIMEOUT)
        if answer.rc != 0:
            raise BusError(
                f"systemctl {verb} {unit} failed: {_reason(answer)}", f"See journalctl --unit {unit} on the node"
            )


def _reason(answer: CommandResult) -> str:
    # Its second sentence names the commands that the remedy names.
    text = " ".join(answer.stderr.split()).partition(" See ")[0].rstrip(".")
    return text.replace("Call failed: ", "") or f"exit status {answer.rc}"


def _remedy(answer: CommandResult) -> str:
    if answer.rc is None:
        return "Check that busctl, which ships with systemd, is on this node"
    if "connect to bus" in answer.stderr:
        return "Start the D-Bus system bus on this node (systemctl start dbus)"
    return "Check the unit with systemctl status on this node"
