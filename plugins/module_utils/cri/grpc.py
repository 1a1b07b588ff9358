# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Unary gRPC calls (grpc/doc/PROTOCOL-HTTP2.md)."""

from __future__ import annotations

import struct
import time
from urllib.parse import unquote

from .errors import CriError, CriUnavailable
from .http2 import Connection, Response

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
        """The encoded response message. CriError for a status other than OK, CriUnavailable without an answer."""
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
