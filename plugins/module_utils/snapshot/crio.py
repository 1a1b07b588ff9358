# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about CRI-O: its processes, its main file and its drop-ins."""

from __future__ import annotations

from typing import Any

from ..host import Host
from .files import capture, describe
from .processes import option

DEFAULT_CONFIG = "/etc/crio/crio.conf"
DROP_IN_FOLDER = "/etc/crio/crio.conf.d"
SOCKET = "/var/run/crio/crio.sock"
PROGRAMS = ("/usr/bin/crio", "/usr/local/bin/crio")
MAX_DROP_INS = 64


def crio(host: Host, processes: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Everything found of CRI-O; None on a node without it."""
    argv = processes[0]["argv"] if processes else []
    config = option(argv, "--config", "-c") or DEFAULT_CONFIG
    folder = (option(argv, "--config-dir", "-d") or DROP_IN_FOLDER).rstrip("/")
    program = next((path for path in PROGRAMS if describe(host, path)["kind"] in ("regular", "symlink")), None)
    try:
        names = host.list(folder)[:MAX_DROP_INS]
    except (OSError, ValueError):
        names = []
    if not processes and program is None:
        return None
    return {
        "processes": processes,
        "program": program,
        "config_path": config,
        "files": {path: capture(host, path) for path in (config, *(folder + "/" + name for name in names))},
    }
