# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about the container runtime: which one kubelet uses, its CRI status, and the NRI socket.

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
from .installer_evidence import RANCHER_DIRECTORIES, SUPERVISORS
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
    """The flag, else the field of kubelet's files (1.27 and later), else a guess from the running agents."""
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
    """k3s and RKE2 can be configured to use an existing runtime."""
    texts = (capture(host, directory + "/config.yaml").get("text", "") for directory in RANCHER_DIRECTORIES)
    endpoints = [endpoint for text in texts for endpoint in _RANCHER_FIELD.findall(text)]
    return endpoints[-1] if endpoints else None


def _configured_endpoint(host: Host, argv: list[str]) -> str | None:
    """The last value in the main file and its drop-ins."""
    directory = command_line_option(argv, "--config-dir")
    paths = [command_line_option(argv, "--config") or "/var/lib/kubelet/config.yaml"]
    if directory:
        paths += [directory + "/" + name for name in _names(host, directory) if name.endswith(".conf")]
    texts = (capture(host, path).get("text", "") for path in paths)
    endpoints = [value for text in texts for _name, value in hints(text, ENDPOINT_FIELD, indent="")]
    return endpoints[-1] if endpoints else None


def _names(host: Host, directory: str) -> list[str]:
    try:
        return host.list(directory)
    except (OSError, ValueError):
        return []


def listening_sockets(proc_net_unix: str) -> list[str]:
    """Paths of unix sockets that a process listens on: flag 0x10000 is SO_ACCEPTCON, proc(5)."""
    rows = (line.split() for line in proc_net_unix.splitlines()[1:])
    return [row[7] for row in rows if len(row) > 7 and re.match("[0-9A-F]{3}[13579BDF][0-9A-F]{4}$", row[3])]


def running_handlers(config_json: str, version: str | None = None) -> dict[str, Any]:
    """The handlers in the CRI plugin's configuration. The rest may contain registry passwords."""
    try:
        section = json.loads(config_json).get("containerd") or {}
    except (ValueError, AttributeError):
        # Runtimes other than containerd may return anything.
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
    """containerd 2.0 and CRI-O 1.28 have this call; kubelet makes it once when it starts."""
    try:
        return {"cgroup_driver": client.cgroup_driver()}
    except CriError as error:
        return {"error": "unimplemented" if error.code == UNIMPLEMENTED else str(error)}


def cri_evidence(host: Host, endpoint: str) -> dict[str, Any]:
    """The CRI's responses, or ``error`` if the CRI does not respond."""
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
            {"id": sandbox.id, "ready": sandbox.state == "READY", "namespace": sandbox.namespace, "name": sandbox.name}
            for sandbox in sandboxes
        ],
        "containers": [
            {
                "id": container.id,
                "sandbox": container.sandbox_id,
                "running": container.state == "RUNNING",
                "name": container.name,
            }
            for container in containers
        ],
    }


def _nri_sockets(host: Host, texts: list[str]) -> dict[str, Any]:
    """Listening sockets named nri.sock or named in a file of the runtime; the controller decides which is NRI's."""
    listening = listening_sockets(kernel_text(host, "/proc/net/unix") or "")
    return {
        path: describe(host, posixpath.join("/", path))
        for path in listening
        if path.endswith("/nri.sock") or any(path in text for text in texts)
    }


def runtime(host: Host, agents: dict[str, list[dict[str, Any]]], endpoint: str) -> dict[str, Any]:
    """All evidence about the runtime behind ``endpoint``; the first process is the containerd that serves it."""
    processes = sort_by_endpoint(host, agents.get("containerd", []), endpoint)
    argv = processes[0]["argv"] if processes else []
    program = containerd_program(host, argv)
    version = host.run([program, "--version"]) if program and host.live else None
    evidence = {
        "processes": processes,
        "program": program,
        "version": version.stdout.strip() if version and version.rc == 0 else None,
        "program_seconds": round(version.seconds, 3) if version else 0.0,
        **containerd_files(host, argv, program),
        "crio": crio(host, agents.get("crio", [])),
        "docker": docker(host, agents.get("dockerd", [])),
    }
    evidence["program_seconds"] += evidence.get("dump", {}).get("seconds", 0.0)
    other_runtime = evidence["crio"] is not None or any(name in agents for name in ("dockerd", "cri-dockerd", "isulad"))
    evidence["cri"] = cri_evidence(host, endpoint) if program or other_runtime else {"endpoint": endpoint}
    files = [*evidence["files"].values(), *(evidence["crio"] or {}).get("files", {}).values()]
    evidence["nri_sockets"] = _nri_sockets(host, [file.get("text", "") for file in files])
    return evidence
