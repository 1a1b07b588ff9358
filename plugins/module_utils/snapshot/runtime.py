# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about containerd: its program, its files, what its CRI says of itself, and the NRI socket."""

from __future__ import annotations

import json
import re
from typing import Any

from ..cri.client import CriClient
from ..cri.errors import CriFailure
from ..host import Host
from .files import capture, describe, kernel_text
from .processes import option

DEFAULT_CONFIG = "/etc/containerd/config.toml"
DEFAULT_ENDPOINT = "unix:///run/containerd/containerd.sock"
DROP_IN_FOLDER = "/etc/containerd/conf.d"
PROGRAMS = ("/usr/bin/containerd", "/usr/local/bin/containerd")


def listening_sockets(proc_net_unix: str) -> list[str]:
    """Paths of unix sockets somebody listens on: flag 0x10000 is SO_ACCEPTCON, proc(5)."""
    rows = (line.split() for line in proc_net_unix.splitlines()[1:])
    return [row[7] for row in rows if len(row) > 7 and re.match("[0-9A-F]{3}[13579BDF][0-9A-F]{4}$", row[3])]


def running_handlers(config_json: str) -> dict[str, Any]:
    """The part of the CRI plugin's own configuration that concerns us. The rest may hold registry passwords."""
    section = json.loads(config_json).get("containerd") or {}
    handlers = {}
    for name, handler in (section.get("runtimes") or {}).items():
        options = handler.get("options") or {}
        handlers[name] = {"type": handler.get("runtimeType"), "systemd_cgroup": options.get("SystemdCgroup")}
    return {"default": section.get("defaultRuntimeName"), "handlers": handlers}


def _cri(host: Host, endpoint: str) -> dict[str, Any]:
    """What the CRI answers; ``error`` instead when it does not."""
    if not host.live:
        return {"endpoint": endpoint}
    try:
        with CriClient(endpoint, timeout=10.0) as client:
            version = client.version()
            status = client.status()
            sandboxes = client.pod_sandboxes()
            containers = client.containers()
    except CriFailure as error:
        return {"endpoint": endpoint, "error": str(error)}
    return {
        "endpoint": endpoint,
        "version": version.runtime_version,
        "name": version.runtime_name,
        "api": version.api,
        "ready": status.ready,
        "config": running_handlers(status.info["config"]) if "config" in status.info else None,
        "sandboxes": [
            {"id": each.id, "ready": each.state == "READY", "namespace": each.namespace, "name": each.name}
            for each in sandboxes
        ],
        "containers": [
            {"id": each.id, "sandbox": each.sandbox_id, "running": each.state == "RUNNING", "name": each.name}
            for each in containers
        ],
    }


def _nri_sockets(host: Host, config: str) -> dict[str, Any]:
    """Sockets with NRI's own name, and those that containerd's file names: the controller knows which is NRI's."""
    listening = listening_sockets(kernel_text(host, "/proc/net/unix") or "")
    return {path: describe(host, path) for path in listening if path.endswith("/nri.sock") or path in config}


def runtime(host: Host, processes: list[dict[str, Any]], endpoint: str | None) -> dict[str, Any]:
    """Everything found of containerd; ``files`` holds its main file and the drop-ins of its default folder."""
    argv = processes[0]["argv"] if processes else []
    config = option(argv, "--config", "-c") or DEFAULT_CONFIG
    program = next((path for path in PROGRAMS if describe(host, path)["kind"] in ("regular", "symlink")), None)
    version = host.run([program, "--version"]) if program and host.live else None
    drop_ins = [DROP_IN_FOLDER + "/" + name for name in host.list(DROP_IN_FOLDER) if name.endswith(".toml")]
    files = {path: capture(host, path) for path in (config, *drop_ins)}
    return {
        "processes": processes,
        "program": program,
        "version": version.stdout.strip() if version and version.rc == 0 else None,
        "program_seconds": round(version.seconds, 3) if version else 0.0,
        "config_path": config,
        "files": files,
        "cri": _cri(host, endpoint or DEFAULT_ENDPOINT) if program else {"endpoint": endpoint or DEFAULT_ENDPOINT},
        "nri_sockets": _nri_sockets(host, files[config].get("text", "")),
    }
