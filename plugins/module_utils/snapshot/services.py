# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about systemd: its version and the units of kubelet and the runtime."""

from __future__ import annotations

from typing import Any

from ..host import Host

UNITS = ("kubelet.service", "containerd.service")
PROPERTIES = (
    "Id",
    "LoadState",
    "ActiveState",
    "SubState",
    "Result",
    "MainPID",
    "NRestarts",
    "KillMode",
    "Delegate",
    "FragmentPath",
    "DropInPaths",
    "ControlGroup",
)


def parse_show(text: str) -> list[dict[str, str]]:
    """Blocks of ``systemctl show``, one a unit, separated by an empty line."""
    blocks = (block.splitlines() for block in text.strip().split("\n\n"))
    return [dict(line.partition("=")[::2] for line in block if "=" in line) for block in blocks]


def services(host: Host) -> dict[str, Any]:
    """``{version, units: {name: {property: value}}}``; empty when PID 1 is not systemd or the tree is an image."""
    if not host.live:
        return {"version": None, "units": {}}
    manager = host.run(["systemctl", "show", "--property=Version"])
    shown = host.run(["systemctl", "show", "--property=" + ",".join(PROPERTIES), *UNITS])
    version = parse_show(manager.stdout)[0].get("Version") if manager.rc == 0 else None
    units = {block["Id"]: block for block in parse_show(shown.stdout) if "Id" in block} if shown.rc == 0 else {}
    return {"version": version, "units": units}
