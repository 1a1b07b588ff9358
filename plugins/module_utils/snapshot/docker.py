# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about docker, which kubelet may use through cri-dockerd or, before 1.24, by itself."""

from __future__ import annotations

from typing import Any

from ..host import Host
from .files import capture
from .processes import option

DEFAULT_CONFIG = "/etc/docker/daemon.json"


def docker(host: Host, processes: list[dict[str, Any]]) -> dict[str, Any] | None:
    """``{processes, config_path, config}`` of a running dockerd; None on a node without one."""
    if not processes:
        return None
    config = option(processes[0]["argv"], "--config-file") or DEFAULT_CONFIG
    return {"processes": processes, "config_path": config, "config": capture(host, config)}
