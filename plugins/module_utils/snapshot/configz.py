# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence from kubelet's own /configz: what it runs with, where it tells that to anybody."""

from __future__ import annotations

import json
import socket
from typing import Any

from .configz_fields import FIELDS

TIMEOUT = 2.0
LIMIT = 1 << 20


def kept(body: bytes) -> dict[str, Any]:
    """The fields of a /configz document that we know; ValueError for what is none."""
    document = json.loads(body.decode("utf-8"))
    whole = document.get("kubeletconfig") if isinstance(document, dict) else None
    if not isinstance(whole, dict):
        raise ValueError("no kubeletconfig in the answer")
    return {key: whole[key] for key in FIELDS if key in whole}


def reading(answer: bytes) -> dict[str, Any]:
    """``{status, config}`` or ``{status, error}`` of an HTTP/1.0 answer."""
    head, _gap, body = answer.partition(b"\r\n\r\n")
    status = head.split(b" ", 2)[1:2]
    if not head.startswith(b"HTTP/") or not status or not status[0].isdigit() or len(status[0]) != 3:
        return {"status": None, "error": "no HTTP answer"}
    code = int(status[0])
    if code != 200:
        return {"status": code, "error": "refused"}
    try:
        return {"status": code, "config": kept(body)}
    except (ValueError, RecursionError):
        return {"status": code, "error": "not a configz document"}


def configz(address: tuple[str, int]) -> dict[str, Any]:
    """``reading`` of GET /configz without credentials. The certificate proves nothing on one's own loopback."""
    import ssl  # here, because only a live node needs it and it is half of our import time

    # Not create_default_context: it reads all certificates of the system, which nobody is going to ask.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    request = b"GET /configz HTTP/1.0\r\nHost: localhost\r\n\r\n"
    try:
        with socket.create_connection(address, TIMEOUT) as plain, context.wrap_socket(plain) as connection:
            connection.sendall(request)
            return reading(_received(connection))
    except OSError as error:
        return {"status": None, "error": str(error.strerror or error)}


def _received(connection: socket.socket) -> bytes:
    answer = b""
    while len(answer) <= LIMIT:
        try:
            piece = connection.recv(65536)
        except OSError:
            if not answer:
                raise
            break  # closed without TLS's own farewell; of a document that was cut off nothing is taken
        if not piece:
            break
        answer += piece
    return answer
