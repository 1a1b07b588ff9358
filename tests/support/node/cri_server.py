# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A small HTTP/2 and gRPC server on a unix socket, and a container runtime that responds on it."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ansible_collections.volcano.colocation.plugins.module_utils.cri import hpack

DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
END_STREAM, END_HEADERS, ACK = 1, 4, 1


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def grpc_message(message: bytes) -> bytes:
    return b"\0" + struct.pack(">I", len(message)) + message


def ok(stream: int, message: bytes) -> list[bytes]:
    """The frames of a successful unary call, as grpc-go sends them; a long message takes several frames."""
    body = grpc_message(message)
    parts = [body[at : at + 16384] for at in range(0, len(body), 16384)]
    head = hpack.encode([(":status", "200"), ("content-type", "application/grpc")])
    tail = hpack.encode([("grpc-status", "0"), ("grpc-message", "")])
    return [
        frame(HEADERS, END_HEADERS, stream, head),
        *(frame(DATA, 0, stream, part) for part in parts),
        frame(HEADERS, END_HEADERS | END_STREAM, stream, tail),
    ]


def failed(stream: int, code: int, message: str) -> list[bytes]:
    """A "trailers only" response."""
    head = [
        (":status", "200"),
        ("content-type", "application/grpc"),
        ("grpc-status", str(code)),
        ("grpc-message", message),
    ]
    return [frame(HEADERS, END_HEADERS | END_STREAM, stream, hpack.encode(head))]


class Connection:
    """The server's side of one connection."""

    def __init__(self, accepted: socket.socket) -> None:
        self._socket = accepted
        self._decoder = hpack.Decoder()
        self.settings_acknowledged = 0
        self.pings_acknowledged: list[bytes] = []

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def receive(self) -> tuple[int, int, int, bytes]:
        head = self._exactly(9)
        length, kind, flags = int.from_bytes(head[:3], "big"), head[3], head[4]
        return kind, flags, int.from_bytes(head[5:], "big"), self._exactly(length)

    def _exactly(self, length: int) -> bytes:
        data = b""
        while len(data) < length:
            more = self._socket.recv(length - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def greet(self) -> None:
        assert self._exactly(24) == b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
        kind, flags, _stream, payload = self.receive()
        assert (kind, flags) == (SETTINGS, 0)
        settings = dict(struct.iter_unpack(">HI", payload))
        assert settings[1] == 0, "the client asks for no dynamic header table"
        self.send(frame(SETTINGS, 0, 0, struct.pack(">HI", 5, 16384)))

    def request(self) -> tuple[int, dict[str, str], bytes]:
        """Return stream, headers and message of the next request; count control frames."""
        headers: dict[str, str] = {}
        while True:
            kind, flags, stream, payload = self.receive()
            if kind == SETTINGS and flags & ACK:
                self.settings_acknowledged += 1
            elif kind == PING and flags & ACK:
                self.pings_acknowledged.append(payload)
            elif kind == HEADERS:
                headers = dict(self._decoder.decode(payload))
            elif kind == DATA and flags & END_STREAM:
                return stream, headers, payload[5:]


class Server:
    """Serves one conversation after the other until it is closed."""

    def __init__(self, path: Path, conversation: Callable[[Connection], None]) -> None:
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen()
        self._conversation = conversation
        self.connections: list[Connection] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                accepted, _address = self._listener.accept()
            except OSError:
                return
            connection = Connection(accepted)
            self.connections.append(connection)
            threading.Thread(target=self._converse, args=(connection, accepted), daemon=True).start()

    def _converse(self, connection: Connection, accepted: socket.socket) -> None:
        with accepted:
            try:
                self._conversation(connection)
            except (EOFError, OSError):
                return

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


@contextmanager
def serving(path: Path, conversation: Callable[[Connection], None]) -> Iterator[Server]:
    server = Server(path, conversation)
    try:
        yield server
    finally:
        server.close()
        path.unlink()


def text(number: int, value: str) -> bytes:
    data = value.encode()
    return length_delimited(number, data)


def length_delimited(number: int, data: bytes) -> bytes:
    return bytes([number << 3 | 2]) + varint(len(data)) + data


def varint(value: int) -> bytes:
    encoded = b""
    while value > 127:
        encoded += bytes([value & 127 | 128])
        value >>= 7
    return encoded + bytes([value])


def number(field_number: int, value: int) -> bytes:
    return bytes([field_number << 3]) + varint(value)


def string_map(field_number: int, values: dict[str, str]) -> bytes:
    return b"".join(length_delimited(field_number, text(1, key) + text(2, value)) for key, value in values.items())


@dataclass
class Sandbox:
    id: str
    name: str
    namespace: str = "default"
    ready: bool = True
    labels: dict[str, str] = field(default_factory=dict)
    created: int = 1 << 60


@dataclass
class Container:
    id: str
    sandbox: str
    name: str = "main"
    state: int = 1
    pid: int = 0
    exit_code: int = 0
    finished: float = 0.0
    attempt: int = 0


@dataclass
class Runtime:
    """A container runtime whose state tests can change."""

    api: str = "v1"
    name: str = "containerd"
    version: str = "1.7.24"
    ready: bool = True
    config: dict[str, object] = field(default_factory=dict)
    sandboxes: list[Sandbox] = field(default_factory=list)
    containers: list[Container] = field(default_factory=list)
    cgroup_driver: int | None = None
    stubborn: set[str] = field(default_factory=set)
    calls: list[str] = field(default_factory=list)

    def converse(self, connection: Connection) -> None:
        connection.greet()
        while True:
            stream, headers, message = connection.request()
            for part in self.respond(stream, headers[":path"], message):
                connection.send(part)

    def respond(self, stream: int, path: str, message: bytes) -> list[bytes]:
        service, method = path[1:].split("/")
        if service != f"runtime.{self.api}.RuntimeService":
            return failed(stream, 12, f"unknown service {service}")
        self.calls.append(method)
        known: dict[str, Callable[[int, bytes], list[bytes]]] = {
            "Version": self._version,
            "Status": self._status,
            **({} if self.cgroup_driver is None else {"RuntimeConfig": self._runtime_config}),
            "ListPodSandbox": self._list_sandboxes,
            "ListContainers": self._list_containers,
            "ContainerStatus": self._container_status,
            "StopPodSandbox": self._stop,
            "RemovePodSandbox": self._remove,
        }
        if method not in known:
            return failed(stream, 12, f"unknown method {method} for service {service}")
        return known[method](stream, message)

    def _version(self, stream: int, _message: bytes) -> list[bytes]:
        return ok(stream, text(1, "0.1.0") + text(2, self.name) + text(3, self.version) + text(4, self.api))

    def _status(self, stream: int, message: bytes) -> list[bytes]:
        assert message == b"\x08\x01", "verbose is asked for"
        runtime = text(1, "RuntimeReady") + (number(2, 1) if self.ready else text(3, "Starting"))
        network = text(1, "NetworkReady") + text(3, "NetworkPluginNotReady") + text(4, "no cni")
        conditions = length_delimited(1, runtime) + length_delimited(1, network)
        return ok(stream, length_delimited(1, conditions) + string_map(2, {"config": json.dumps(self.config)}))

    def _runtime_config(self, stream: int, message: bytes) -> list[bytes]:
        assert message == b"", "the request has no fields"
        assert self.cgroup_driver is not None
        # proto3 leaves out the zero: systemd is an empty message, which is not the same as none
        return ok(stream, length_delimited(1, number(1, self.cgroup_driver) if self.cgroup_driver else b""))

    def _list_sandboxes(self, stream: int, _message: bytes) -> list[bytes]:
        items = b""
        for sandbox in self.sandboxes:
            metadata = text(1, sandbox.name) + text(2, "uid-" + sandbox.id) + text(3, sandbox.namespace) + number(4, 1)
            labels = string_map(5, {"tier": "x" * 300, **sandbox.labels})
            state = b"" if sandbox.ready else number(3, 1)
            entry = (
                text(1, sandbox.id)
                + length_delimited(2, metadata)
                + state
                + number(4, sandbox.created)
                + labels
                + text(7, "runc")
            )
            items += length_delimited(1, entry)
        return ok(stream, items)

    def _list_containers(self, stream: int, _message: bytes) -> list[bytes]:
        items = b""
        for container in self.containers:
            entry = (
                text(1, container.id)
                + text(2, container.sandbox)
                + length_delimited(3, text(1, container.name) + number(2, container.attempt))
            )
            items += length_delimited(1, entry + (number(6, container.state) if container.state else b""))
        return ok(stream, items)

    def _container_status(self, stream: int, message: bytes) -> list[bytes]:
        requested = message[2 : 2 + message[1]].decode()
        for container in self.containers:
            if container.id == requested:
                status = text(1, container.id) + number(3, container.state) + number(6, int(container.finished * 1e9))
                info = string_map(2, {"info": json.dumps({"pid": container.pid, "sandboxID": container.sandbox})})
                return ok(stream, length_delimited(1, status + number(7, container.exit_code)) + info)
        return failed(stream, 5, f"container {requested}: not found")

    def _stop(self, stream: int, message: bytes) -> list[bytes]:
        requested = message[2:].decode()
        if requested in self.stubborn:
            return failed(stream, 2, "failed to stop: device busy")
        return ok(stream, b"")

    def _remove(self, stream: int, message: bytes) -> list[bytes]:
        removed = message[2:].decode()
        self.sandboxes = [sandbox for sandbox in self.sandboxes if sandbox.id != removed]
        self.containers = [container for container in self.containers if container.sandbox != removed]
        return ok(stream, b"")
