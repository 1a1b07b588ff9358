# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Unary gRPC calls over one HTTP/2 connection to a unix socket, and the errors of a container runtime.

Sources: grpc/doc/PROTOCOL-HTTP2.md, grpc/doc/statuscodes.md, RFC 9113.
"""

from __future__ import annotations

import os
import socket
import struct
import time
from dataclasses import dataclass
from urllib.parse import unquote

from ..errors import ColocationError, reason_of
from . import hpack

SOCKET_PATH_LIMIT = 107
"""Bytes: struct sockaddr_un has 108 with the final null byte, unix(7)."""

# grpc/doc/statuscodes.md
UNIMPLEMENTED = 12
NOT_FOUND = 5
STATUS_NAMES = (
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
)


class CriFailure(ColocationError):
    """A call without a result."""


class CriUnavailable(CriFailure):
    """No response: no socket, no listener, no HTTP/2, connection closed, or timeout."""


class CriError(CriFailure):
    """The runtime returned a gRPC status other than OK."""

    def __init__(self, code: int, message: str, remedy: str = "") -> None:
        name = STATUS_NAMES[code] if 0 <= code < len(STATUS_NAMES) else f"status {code}"
        super().__init__(f"the container runtime answered {name}: {message}", remedy)
        self.code = code


PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

# Section 6.
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM = ACK = 0x1
END_HEADERS = 0x4
PADDED = 0x8
HAS_PRIORITY = 0x20

# Section 6.5.2.
SETTINGS_HEADER_TABLE_SIZE = 1
SETTINGS_ENABLE_PUSH = 2
SETTINGS_INITIAL_WINDOW_SIZE = 4

LARGEST_WINDOW = (1 << 31) - 1
DEFAULT_WINDOW = (1 << 16) - 1
FRAME_LIMIT = 1 << 14
"""SETTINGS_MAX_FRAME_SIZE of both sides unless one raises it; this client does not."""
RESPONSE_LIMIT = 64 << 20


@dataclass(frozen=True)
class Frame:
    """A frame, section 4.1."""

    kind: int
    flags: int
    stream: int
    payload: bytes


@dataclass(frozen=True)
class Response:
    """Headers and trailers together, and the body."""

    headers: dict[str, str]
    body: bytes


def pack(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """The bytes of one frame."""
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


class Connection:
    """A connection to the server that listens at the unix socket ``path``.

    CriUnavailable when there is no complete response. ``deadline`` is on the monotonic clock.
    The flow-control windows are set once to their maximum of 2 GiB, far more than CRI responses need.
    """

    def __init__(self, path: str, deadline: float) -> None:
        self._path = path
        self._stream = -1
        self._buffer = b""
        self._decoder = hpack.Decoder()
        self._socket = _connect(path, deadline)
        settings = b"".join(
            struct.pack(">HI", setting, value)
            for setting, value in (
                (SETTINGS_HEADER_TABLE_SIZE, 0),
                (SETTINGS_ENABLE_PUSH, 0),
                (SETTINGS_INITIAL_WINDOW_SIZE, LARGEST_WINDOW),
            )
        )
        wider = pack(WINDOW_UPDATE, 0, 0, struct.pack(">I", LARGEST_WINDOW - DEFAULT_WINDOW))
        try:
            self._send(PREFACE + pack(SETTINGS, 0, 0, settings) + wider, deadline)
            self._accept_settings(self._receive(deadline), deadline)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the connection."""
        self._socket.close()

    def request(self, headers: list[tuple[str, str]], body: bytes, deadline: float) -> Response:
        """Send a request whose body fits one frame, wait for the end of its response."""
        if len(body) > FRAME_LIMIT:
            raise ValueError(f"a request of {len(body)} octets does not fit one frame")
        self._stream += 2
        block = hpack.encode(headers)
        opening = pack(HEADERS, END_HEADERS, self._stream, block)
        self._send(opening + pack(DATA, END_STREAM, self._stream, body), deadline)
        return self._response(deadline)

    def _response(self, deadline: float) -> Response:
        headers: dict[str, str] = {}
        body = bytearray()
        while True:
            frame = self._receive(deadline)
            if frame.kind == HEADERS:
                headers.update(self._decode(self._header_block(frame, deadline)))
            elif frame.kind == DATA and frame.stream == self._stream:
                body += _strip_padding(frame)
                if len(body) > RESPONSE_LIMIT:
                    raise self._broken(f"sent more than {RESPONSE_LIMIT >> 20} MiB")
            else:
                self._control(frame, deadline)
                continue
            if frame.flags & END_STREAM and frame.stream == self._stream:
                return Response(headers, bytes(body))

    def _header_block(self, frame: Frame, deadline: float) -> bytes:
        block = _strip_padding(frame)
        if frame.flags & HAS_PRIORITY:
            block = block[5:]
        flags = frame.flags
        while not flags & END_HEADERS:
            more = self._receive(deadline)
            if more.kind != CONTINUATION or more.stream != frame.stream:
                raise self._broken("sent an incomplete header block")
            block += more.payload
            flags = more.flags
        return block

    def _decode(self, block: bytes) -> list[tuple[str, str]]:
        try:
            return self._decoder.decode(block)
        except hpack.HpackError as error:
            raise self._broken(f"sent headers that cannot be read: {error}") from error

    def _control(self, frame: Frame, deadline: float) -> None:
        """Handle frames that are not part of our response. Priorities, window updates and unknown kinds are ignored."""
        if frame.kind == SETTINGS and not frame.flags & ACK:
            self._send(pack(SETTINGS, ACK, 0), deadline)
        elif frame.kind == PING and not frame.flags & ACK:
            self._send(pack(PING, ACK, 0, frame.payload), deadline)
        elif frame.kind == RST_STREAM and frame.stream == self._stream:
            raise self._broken(f"reset the request (HTTP/2 error {_number(frame.payload)})")
        elif frame.kind == GOAWAY and _number(frame.payload) & LARGEST_WINDOW < self._stream:
            raise self._broken(f"closes the connection (HTTP/2 error {_number(frame.payload[4:])})")
        elif frame.kind in (PUSH_PROMISE, CONTINUATION):
            raise self._broken(f"sent a frame of kind {frame.kind} out of order")

    def _accept_settings(self, frame: Frame, deadline: float) -> None:
        # Section 3.4: the server's first frame is its SETTINGS.
        if frame.kind != SETTINGS:
            raise self._broken("does not speak HTTP/2")
        self._send(pack(SETTINGS, ACK, 0), deadline)

    def _receive(self, deadline: float) -> Frame:
        head = self._read(9, deadline)
        length = struct.unpack(">I", b"\0" + head[:3])[0]
        kind, flags, stream = struct.unpack(">BBI", head[3:])
        if length > FRAME_LIMIT:
            raise self._broken("does not speak HTTP/2")
        return Frame(kind, flags, stream & LARGEST_WINDOW, self._read(length, deadline))

    def _read(self, length: int, deadline: float) -> bytes:
        while len(self._buffer) < length:
            try:
                self._socket.settimeout(_remaining(deadline))
                received = self._socket.recv(1 << 16)
            except socket.timeout:
                raise self._broken("did not respond in time") from None
            except OSError as error:
                raise self._broken(f"ended the connection: {error.strerror}") from error
            if not received:
                raise self._broken("closed the connection")
            self._buffer += received
        data, self._buffer = self._buffer[:length], self._buffer[length:]
        return data

    def _send(self, data: bytes, deadline: float) -> None:
        try:
            self._socket.settimeout(_remaining(deadline))
            self._socket.sendall(data)
        except socket.timeout:
            raise self._broken("did not accept the request in time") from None
        except OSError as error:
            raise self._broken(f"ended the connection: {error.strerror}") from error

    def _broken(self, what: str) -> CriUnavailable:
        return CriUnavailable(f"the server at {self._path} {what}")


def _connect(path: str, deadline: float) -> socket.socket:
    if len(os.fsencode(path)) > SOCKET_PATH_LIMIT:
        raise CriUnavailable(
            f"the container runtime's socket {path} has a path that is too long for a socket",
            f"Use a path of at most {SOCKET_PATH_LIMIT} bytes",
        )
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(_remaining(deadline))
        connection.connect(path)
    except (OSError, ValueError) as error:
        connection.close()
        reason = reason_of(error)
        raise CriUnavailable(
            f"the container runtime's socket {path} cannot be reached: {reason}",
            "Check that the runtime is running and listens at this socket",
        ) from error
    return connection


def _remaining(deadline: float) -> float:
    """Remaining seconds; never 0, which would make the socket non-blocking."""
    return max(deadline - time.monotonic(), 0.001)


def _strip_padding(frame: Frame) -> bytes:
    if not frame.flags & PADDED:
        return frame.payload
    padding = frame.payload[0] if frame.payload else 0
    return frame.payload[1 : len(frame.payload) - padding]


def _number(data: bytes) -> int:
    return int.from_bytes(data[:4], "big")


OK = 0


class Channel:
    """A connection to one server. Every call has its own time limit, ``timeout`` seconds."""

    def __init__(self, path: str, timeout: float) -> None:
        self._path = path
        self._timeout = timeout
        self._connection = Connection(path, time.monotonic() + timeout)

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def call(self, service: str, method: str, message: bytes, timeout: float | None = None) -> bytes:
        """The encoded response message. CriError for a status other than OK, CriUnavailable without a response."""
        limit = self._timeout if timeout is None else timeout
        headers = [
            (":method", "POST"),
            (":scheme", "http"),
            (":path", f"/{service}/{method}"),
            (":authority", "localhost"),
            ("te", "trailers"),
            ("content-type", "application/grpc"),
            ("grpc-timeout", f"{max(1, int(limit * 1000))}m"),
            ("user-agent", "volcano-colocation"),
        ]
        body = struct.pack(">BI", 0, len(message)) + message
        response = self._connection.request(headers, body, time.monotonic() + limit)
        self._require_ok(response)
        return self._message(response.body)

    def _require_ok(self, response: Response) -> None:
        status = response.headers.get("grpc-status", "")
        if not status.isdigit():
            http_status = response.headers.get(":status", "none")
            raise CriUnavailable(f"the server at {self._path} does not speak gRPC (HTTP status {http_status})")
        if int(status) != OK:
            message = response.headers.get("grpc-message", "")
            raise CriError(int(status), unquote(message, encoding="utf-8", errors="replace"))

    def _message(self, body: bytes) -> bytes:
        if len(body) < 5:
            raise CriUnavailable(f"the server at {self._path} answered without a message")
        compressed, length = struct.unpack(">BI", body[:5])
        if compressed or length != len(body) - 5:
            raise CriUnavailable(f"the server at {self._path} answered with a message that cannot be read")
        return body[5:]
