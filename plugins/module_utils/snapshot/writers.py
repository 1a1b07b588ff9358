# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about others who write to cgroups or to kubelet's configuration: their processes and their folders."""

from __future__ import annotations

from typing import Any

from ..host import Host
from .files import names
from .rubik import rubik

FOLDERS = (
    "/opt/nri/plugins",
    "/etc/nri/conf.d",
    "/var/lib/rubik",
    "/etc/systemd/system.control",
    "/run/systemd/system.control",
)
NAME_LIMIT = 100


def writers(host: Host, commands: dict[str, int]) -> dict[str, Any]:
    """``commands`` counts processes by name; ``folders`` are the names in folders that such writers keep."""
    listed = {folder: names(host, folder)[:NAME_LIMIT] for folder in FOLDERS}
    return {
        "commands": commands,
        "folders": {folder: found for folder, found in listed.items() if found},
        "rubik": rubik(host),
    }
