# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A container of a pod as a process on this machine, as its manifest says: for programs that need no image.

The process has the container's arguments, environment, mounts, user and capabilities. Its root directory has only its
program, its mounts and the files of its ServiceAccount; hostPath volumes are below a directory that represents the
node. Only the addresses of the API server and of the health check are those of this machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..agent_image import DAC_OVERRIDE
from ..errors import UnavailableError
from .components import HOST

Manifest = dict[str, Any]

LAUNCHER = Path(__file__).with_name("container_launcher.py")
SECRETS = "/var/run/secrets/kubernetes.io/serviceaccount"


@dataclass(frozen=True)
class Place:
    """Where a container runs: ``node`` is the node's root directory; ``root`` an empty directory for the process."""

    node: Path
    root: Path
    log: Path


@dataclass(frozen=True)
class Service:
    """The API server's port on this machine, and the files of the pod's ServiceAccount by name."""

    port: int
    account: Mapping[str, str]


def give_capability(program: Path) -> None:
    """Give a program the file capability that it has in upstream's image."""
    os.setxattr(program, "security.capability", DAC_OVERRIDE)


def require_root() -> None:
    """UnavailableError unless this process may give other processes separate mounts and users."""
    if os.geteuid() != 0:
        raise UnavailableError("containers without images need root: they have separate mounts and users")


def start(
    pod: Manifest, container: Manifest, program: Path, place: Place, service: Service, **changed: str
) -> subprocess.Popen[bytes]:
    """Start the process; ``changed`` are further environment variables. Its output is appended to the log."""
    place.root.mkdir(exist_ok=True)
    command = container["command"][0]
    description = {
        "root": str(place.root),
        "mounts": [
            {"source": str(program), "target": command, "read_only": True},
            *mounts(pod, container, place.node),
        ],
        "files": {f"{SECRETS}/{name}": text for name, text in service.account.items()},
        "user": container["securityContext"]["runAsUser"],
        "capabilities": container["securityContext"]["capabilities"]["add"],
        "argv": [*container["command"], *container.get("args", ())],
        "environment": {**environment(pod, container, service.port), **changed},
    }
    with place.log.open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-I", str(LAUNCHER)],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    assert process.stdin
    with process.stdin as stream:
        stream.write(json.dumps(description).encode())
    return process


def mounts(pod: Manifest, container: Manifest, node: Path) -> list[dict[str, Any]]:
    """The mounts of hostPath volumes; kubelet creates a directory with the type DirectoryOrCreate."""
    volumes = {volume["name"]: volume["hostPath"] for volume in pod["spec"]["volumes"] if "hostPath" in volume}
    mounted = []
    for mount in container["volumeMounts"]:
        volume = volumes.get(mount["name"])
        if volume is None:
            continue  # the token of the ServiceAccount
        source = node / volume["path"].lstrip("/")
        if volume.get("type") == "DirectoryOrCreate":
            source.mkdir(parents=True, exist_ok=True)
        mounted.append({"source": str(source), "target": mount["mountPath"], "read_only": mount.get("readOnly", False)})
    return mounted


def environment(pod: Manifest, container: Manifest, api_port: int) -> dict[str, str]:
    """The container's variables, and those with the API server's address."""
    values = {"KUBERNETES_SERVICE_HOST": HOST, "KUBERNETES_SERVICE_PORT": str(api_port)}
    for variable in container.get("env", ()):
        reference = variable.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath")
        values[variable["name"]] = _field(pod, reference) if reference else variable.get("value", "")
    return values


def _field(pod: Manifest, path: str) -> str:
    value: Any = pod
    for key in path.split("."):
        value = value[key]
    return str(value)
