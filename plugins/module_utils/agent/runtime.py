# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The runtime that kubelet uses on this node, as far as images go: its socket, its name, and containerd's ctr."""

from __future__ import annotations

import os
from dataclasses import dataclass

from ..cri.client import socket_path
from ..cri.images import ImageClient
from ..errors import ColocationError
from ..host import Host
from ..snapshot.containerd import PROGRAMS, containerd_program, of_endpoint
from ..snapshot.endpoint import kubelets_endpoint
from ..snapshot.files import describe
from ..snapshot.processes import scan

CONTAINERD = "containerd"
BY_HAND = {
    "cri-o": "skopeo copy oci-archive:FILE containers-storage:{name}",
    "docker": "docker load --input FILE",
}
"""What those who know these runtimes load an archive with; nobody tried it for us."""

ARCHITECTURES = {
    "x86_64": "amd64",
    "aarch64": "arm64",
    "armv7l": "arm",
    "armv6l": "arm",
    "i686": "386",
    "loongarch64": "loong64",
}
"""As images name them (GOARCH) by uname(2)'s machine, where both differ: containerd/platforms normalizeArch."""


@dataclass(frozen=True)
class Runtime:
    """``socket`` is the path that kubelet was given, ``ctr`` the program beside containerd, empty where none is."""

    socket: str
    name: str
    ctr: str

    def client(self, host: Host) -> ImageClient:
        return ImageClient(host.real_path(self.socket))

    def importer(self, image: str) -> str:
        """The program that imports; ColocationError where this runtime has none that we would start."""
        if self.name != CONTAINERD:
            hand = BY_HAND.get(self.name, "its own program").format(name=image)
            raise ColocationError(
                f"kubelet uses {self.name}, and archives are imported into containerd only",
                f"Nothing was changed. Load the archive on this node by hand ({hand}) and run again: an image that is"
                " there with the right name and id is left as it is",
                self.socket,
            )
        if not self.ctr:
            raise ColocationError(
                "there is no ctr beside containerd, nor in /usr/bin or /usr/local/bin",
                "Nothing was changed. Install it, it is part of every release of containerd",
                self.socket,
            )
        return self.ctr


def runtime(host: Host) -> Runtime:
    """The runtime behind kubelet's endpoint; CriFailure when it does not answer."""
    agents = scan(host, None)["agents"]
    endpoint = kubelets_endpoint(host, agents)
    socket = socket_path(endpoint)
    with ImageClient(host.real_path(socket)) as client:
        name = client.version().runtime_name
    processes = of_endpoint(host, agents.get(CONTAINERD, []), endpoint)
    program = containerd_program(host, processes[0]["argv"] if processes else [])
    beside = [program] if program else []
    found = (os.path.join(os.path.dirname(each), "ctr") for each in (*beside, *PROGRAMS[:2]))
    ctr = next((each for each in found if describe(host, each)["kind"] in ("regular", "symlink")), "")
    return Runtime(socket, name, ctr)


def architecture(machine: str) -> str:
    """Of uname(2)'s machine, the name that images give it."""
    return ARCHITECTURES.get(machine, machine)
