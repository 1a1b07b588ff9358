# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulated node without sockets and threads, for thousands of reproducible transactions in some seconds."""

from __future__ import annotations

from pathlib import Path
from typing import Callable

from ansible_collections.volcano.colocation.plugins.module_utils.cri import hpack
from ansible_collections.volcano.colocation.plugins.module_utils.cri.grpc import CriError, CriUnavailable
from ansible_collections.volcano.colocation.plugins.module_utils.cri.node_access import Node
from ansible_collections.volcano.colocation.plugins.module_utils.cri.runtime_client import CRI_TIMEOUT, CriClient
from ansible_collections.volcano.colocation.tests.support.node.cri_server import DATA, HEADERS, Runtime, Server
from ansible_collections.volcano.colocation.tests.support.node.simulation import ENDPOINT, Simulation

ENGINE = "/usr/local/lib/volcano-colocation/0123456789abcdef"
CHANGING_CALLS = ("StopPodSandbox", "RemovePodSandbox")


class Client(CriClient):
    """The real client and the real messages; only the socket between them is left out."""

    def __init__(self, simulation: InProcess) -> None:
        super().__init__(ENDPOINT)
        self._simulation = simulation

    def _send(self, service: str, method: str, request: bytes) -> bytes:
        if self._simulation.server is None:
            raise CriUnavailable("no response", "")
        response = content(self._simulation.runtime.respond(1, f"/{service}/{method}", request))
        if method in CHANGING_CALLS:
            self._simulation.changed()
        return response


def content(frames: list[bytes]) -> bytes:
    """Return the message in the frames of a response."""
    message = b""
    status: dict[str, str] = {}
    for frame in frames:
        if frame[3] == DATA:
            message += frame[9:]
        if frame[3] == HEADERS:
            status.update(hpack.Decoder().decode(frame[9:]))
    if status["grpc-status"] != "0":
        raise CriError(int(status["grpc-status"]), status["grpc-message"], "")
    return message[5:]


class LocalServer(Server):
    """A server without a socket."""

    def __init__(self, path: Path, runtime: Runtime) -> None:
        path.touch()

    def close(self) -> None:
        return


def nothing() -> None:
    return


class InProcess(Simulation):
    """``changed`` is called after every program or CRI call that changes the node."""

    changed: Callable[[], None] = staticmethod(nothing)

    def __post_init__(self) -> None:
        super().__post_init__()
        simulation = self

        class LocalNode(Node):
            def cri(self, endpoint: str, timeout: float = CRI_TIMEOUT) -> CriClient:
                return Client(simulation)

        self.node = LocalNode(self.host, self.clock, ENGINE)

    def listen(self) -> None:
        self.server = LocalServer(Path(self.host.path(ENDPOINT)), self.runtime)

    def _respond(self, argv: tuple[str, ...]) -> tuple[int, str, str]:
        result = super()._respond(argv)
        if argv[0] == "systemctl" and argv[1] not in ("show", "is-system-running"):
            self.changed()
        return result
