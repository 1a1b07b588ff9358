# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about the container runtime: which one kubelet uses, what its CRI says of itself, and the NRI socket.

With several runtimes on a node only kubelet knows which CRI socket it uses.
"""

from __future__ import annotations

import json
import posixpath
import re
from typing import Any

from ..containerd_fields import SYSTEMD_CGROUP, handler_option
from ..cri.grpc import UNIMPLEMENTED, CriError, CriFailure
from ..cri.runtime_client import CriClient
from ..host import Host
from .file_evidence import capture, describe, kernel_text
from .installer_evidence import RANCHER_DIRECTORIES as RANCHER_FOLDERS
from .installer_evidence import SUPERVISORS
from .kubelet_files import hints
from .process_evidence import command_line_option
from .runtime_files import (
    CONTAINERD_SOCKET,
    CRIO_SOCKET,
    containerd_files,
    containerd_program,
    crio,
    docker,
    sort_by_endpoint,
)

DEFAULT_ENDPOINT = "unix://" + CONTAINERD_SOCKET
RANCHER_ENDPOINT = "unix:///run/k3s/containerd/containerd.sock"
_RANCHER_FIELD = re.compile(r"^container-runtime-endpoint[ \t]*:[ \t]*[\"']?([^\"'#\s]+)", re.MULTILINE)
ENDPOINT_FIELD = "containerRuntimeEndpoint"


def kubelets_endpoint(host: Host, agents: dict[str, list[dict[str, Any]]]) -> str:
    """The flag, else the field of kubelet's files (1.27 and later), else what the running agents suggest."""
    kubelets = agents.get("kubelet", [])
    argv = kubelets[0]["argv"] if kubelets else []
    named = command_line_option(argv, "--container-runtime-endpoint") or _configured_endpoint(host, argv)
    if named:
        return named
    if any(name in agents for name in SUPERVISORS):
        return _rancher_endpoint(host) or RANCHER_ENDPOINT
    if "crio" in agents and "containerd" not in agents:
        return "unix://" + CRIO_SOCKET
    return DEFAULT_ENDPOINT


def _rancher_endpoint(host: Host) -> str | None:
    """k3s and RKE2 can be told to use a runtime that is there already."""
    texts = (capture(host, directory + "/config.yaml").get("text", "") for directory in RANCHER_FOLDERS)
    found = [each for text in texts for each in _RANCHER_FIELD.findall(text)]
    return found[-1] if found else None


def _configured_endpoint(host: Host, argv: list[str]) -> str | None:
    """The last word of the main file and its drop-ins."""
    directory = command_line_option(argv, "--config-dir")
    paths = [command_line_option(argv, "--config") or "/var/lib/kubelet/config.yaml"]
    if directory:
        paths += [directory + "/" + name for name in _names(host, directory) if name.endswith(".conf")]
    texts = (capture(host, path).get("text", "") for path in paths)
    found = [value for text in texts for _name, value in hints(text, ENDPOINT_FIELD, indent="")]
    return found[-1] if found else None


def _names(host: Host, directory: str) -> list[str]:
    try:
        return host.list(directory)
    except (OSError, ValueError):
        return []


def listening_sockets(proc_net_unix: str) -> list[str]:
    """Paths of unix sockets somebody listens on: flag 0x10000 is SO_ACCEPTCON, proc(5)."""
    rows = (line.split() for line in proc_net_unix.splitlines()[1:])
    return [row[7] for row in rows if len(row) > 7 and re.match("[0-9A-F]{3}[13579BDF][0-9A-F]{4}$", row[3])]


def running_handlers(config_json: str, version: str | None = None) -> dict[str, Any]:
    """The part of the CRI plugin's own configuration that concerns us. The rest may hold registry passwords."""
    try:
        section = json.loads(config_json).get("containerd") or {}
    except (ValueError, AttributeError):
        # Other runtimes than containerd answer with anything.
        section = {}
    handlers = {}
    for name, handler in (section.get("runtimes") or {}).items():
        options = handler.get("options") or {}
        handlers[name] = {
            "type": handler.get("runtimeType"),
            "systemd_cgroup": handler_option(options, SYSTEMD_CGROUP, version),
        }
    return {"default": section.get("defaultRuntimeName"), "handlers": handlers}


def _runtime_config(client: CriClient) -> dict[str, Any]:
    """containerd 2.0 and CRI-O 1.28 have the call; kubelet asks it once at its start."""
    try:
        return {"cgroup_driver": client.cgroup_driver()}
    except CriError as error:
        return {"error": "unimplemented" if error.code == UNIMPLEMENTED else str(error)}


def cri_evidence(host: Host, endpoint: str) -> dict[str, Any]:
    """What the CRI answers; ``error`` instead when it does not."""
    if not host.live:
        return {"endpoint": endpoint}
    try:
        with CriClient(endpoint, timeout=10.0) as client:
            version = client.version()
            status = client.status()
            runtime_config = _runtime_config(client)
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
        "config": running_handlers(status.info["config"], version.runtime_version) if "config" in status.info else None,
        "runtime_config": runtime_config,
        "sandboxes": [
            {"id": each.id, "ready": each.state == "READY", "namespace": each.namespace, "name": each.name}
            for each in sandboxes
        ],
        "containers": [
            {"id": each.id, "sandbox": each.sandbox_id, "running": each.state == "RUNNING", "name": each.name}
            for each in containers
        ],
    }


def _nri_sockets(host: Host, texts: list[str]) -> dict[str, Any]:
    """Sockets with NRI's own name, and those that a file of the runtime names: the controller knows which is NRI's."""
    listening = listening_sockets(kernel_text(host, "/proc/net/unix") or "")
    return {
        path: describe(host, posixpath.join("/", path))
        for path in listening
        if path.endswith("/nri.sock") or any(path in text for text in texts)
    }


def runtime(host: Host, agents: dict[str, list[dict[str, Any]]], endpoint: str) -> dict[str, Any]:
    """Everything found of the runtime behind ``endpoint``; the first process is the containerd that serves it."""
    processes = sort_by_endpoint(host, agents.get("containerd", []), endpoint)
    argv = processes[0]["argv"] if processes else []
    program = containerd_program(host, argv)
    version = host.run([program, "--version"]) if program and host.live else None
    found = {
        "processes": processes,
        "program": program,
        "version": version.stdout.strip() if version and version.rc == 0 else None,
        "program_seconds": round(version.seconds, 3) if version else 0.0,
        **containerd_files(host, argv, program),
        "crio": crio(host, agents.get("crio", [])),
        "docker": docker(host, agents.get("dockerd", [])),
    }
    found["program_seconds"] += found.get("dump", {}).get("seconds", 0.0)
    others = found["crio"] is not None or any(name in agents for name in ("dockerd", "cri-dockerd", "isulad"))
    found["cri"] = cri_evidence(host, endpoint) if program or others else {"endpoint": endpoint}
    files = [*found["files"].values(), *(found["crio"] or {}).get("files", {}).values()]
    found["nri_sockets"] = _nri_sockets(host, [file.get("text", "") for file in files])
    return found
