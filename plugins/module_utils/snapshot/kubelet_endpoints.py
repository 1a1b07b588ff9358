# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence from kubelet's own endpoints: where it answers for its health, what it answers, and its /configz."""

from __future__ import annotations

import json
import re
import socket
from typing import Any, Iterable

from .configz_fields import FIELDS
from .kubelet_files import hints
from .process_evidence import command_line_option

LOOPBACK = "127.0.0.1"
PORT = 10248
HOST = re.compile(r"[0-9A-Za-z][0-9A-Za-z.-]{0,252}\Z|[0-9A-Fa-f:.]{3,45}\Z")
WILDCARDS = ("", "0.0.0.0", "::")  # noqa: S104 - nobody listens there but kubelet
"""Go listens for IPv4 at :: as well (net, favoriteAddrFamily)."""
NULLS = ("~", "null", "Null", "NULL")
"""YAML 1.1's words for nothing, which leave kubelet its default."""
HEALTHZ_FLAGS = ("--healthz-port", "--healthz-bind-address")
HEALTHZ_FIELDS = ("healthzPort", "healthzBindAddress")


def reachable_host(address: str) -> str:
    """The host at which a kubelet that listens at an address is asked from its own node."""
    return LOOPBACK if address in WILDCARDS or not HOST.match(address) else address


def healthz_port(text: str) -> int:
    """The port that a setting means; kubelet does not start with one that is none."""
    number = int(text) if text.isdecimal() and len(text) < 6 else PORT
    return number if number < 65536 else PORT


def healthz_endpoint(address: str, port: int) -> str | None:
    """The URL of /healthz; None where kubelet listens nowhere."""
    host = reachable_host(address)
    if not port:
        return None
    return f"http://[{host}]:{port}/healthz" if ":" in host else f"http://{host}:{port}/healthz"


def healthz_address(words: list[str], texts: Iterable[str]) -> tuple[str, int] | None:
    """Host and port by kubelet's command line and files, the strongest last; None where it listens nowhere."""
    found = (each for text in texts for each in hints(text, *HEALTHZ_FIELDS))
    said = {key: "" if value in NULLS else value for key, value in found}
    port = command_line_option(words, HEALTHZ_FLAGS[0]) or said.get(HEALTHZ_FIELDS[0], "")
    address = command_line_option(words, HEALTHZ_FLAGS[1]) or said.get(HEALTHZ_FIELDS[1], "")
    number = healthz_port(port)
    return (reachable_host(address), number) if number else None


def healthz(address: tuple[str, int], timeout: float = 3.0) -> str | None:
    """Body of GET /healthz, or None when nothing answers. A bare socket: http.client alone doubles our import time."""
    request = b"GET /healthz HTTP/1.0\r\nHost: %s\r\n\r\n" % address[0].encode()
    answer = b""
    try:
        with socket.create_connection(address, timeout) as connection:
            connection.sendall(request)
            while len(answer) < 4096:
                piece = connection.recv(4096)
                if not piece:
                    break
                answer += piece
    except (OSError, ValueError):
        return None
    return answer.partition(b"\r\n\r\n")[2].decode("utf-8", "replace").strip()


CONFIGZ_TIMEOUT = 2.0
CONFIGZ_LIMIT = 1 << 20


def known_fields(body: bytes) -> dict[str, Any]:
    """The fields of a /configz document that we know; ValueError for what is none."""
    document = json.loads(body.decode("utf-8"))
    whole = document.get("kubeletconfig") if isinstance(document, dict) else None
    if not isinstance(whole, dict):
        raise ValueError("no kubeletconfig in the answer")
    return {key: whole[key] for key in FIELDS if key in whole}


def parse_answer(answer: bytes) -> dict[str, Any]:
    """``{status, config}`` or ``{status, error}`` of an HTTP/1.0 answer."""
    head, _gap, body = answer.partition(b"\r\n\r\n")
    status = head.split(b" ", 2)[1:2]
    if not head.startswith(b"HTTP/") or not status or not status[0].isdigit() or len(status[0]) != 3:
        return {"status": None, "error": "no HTTP answer"}
    code = int(status[0])
    if code != 200:
        return {"status": code, "error": "refused"}
    try:
        return {"status": code, "config": known_fields(body)}
    except (ValueError, RecursionError):
        return {"status": code, "error": "not a configz document"}


def configz(address: tuple[str, int]) -> dict[str, Any]:
    """``parse_answer`` of GET /configz without credentials. The certificate proves nothing on one's own loopback."""
    import ssl  # here, because only a live node needs it and it is half of our import time

    # Not create_default_context: it reads all certificates of the system, which nobody is going to ask.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    request = b"GET /configz HTTP/1.0\r\nHost: localhost\r\n\r\n"
    try:
        with socket.create_connection(address, CONFIGZ_TIMEOUT) as plain, context.wrap_socket(plain) as connection:
            connection.sendall(request)
            return parse_answer(_receive(connection))
    except OSError as error:
        return {"status": None, "error": str(error.strerror or error)}


def _receive(connection: socket.socket) -> bytes:
    answer = b""
    while len(answer) <= CONFIGZ_LIMIT:
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
