# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where kubelet answers for its health, and what it answers."""

from __future__ import annotations

import re
import socket
from typing import Iterable

from .kubelet_hints import hints
from .processes import option

LOOPBACK = "127.0.0.1"
PORT = 10248
HOST = re.compile(r"[0-9A-Za-z][0-9A-Za-z.-]{0,252}\Z|[0-9A-Fa-f:.]{3,45}\Z")
WILDCARDS = ("", "0.0.0.0", "::")  # noqa: S104 - nobody listens there but kubelet
"""Go listens for IPv4 at :: as well (net, favoriteAddrFamily)."""
NULLS = ("~", "null", "Null", "NULL")
"""YAML 1.1's words for nothing, which leave kubelet its default."""
FLAGS = ("--healthz-port", "--healthz-bind-address")
FIELDS = ("healthzPort", "healthzBindAddress")


def reached(address: str) -> str:
    """The host at which a kubelet that listens at an address is asked from its own node."""
    return LOOPBACK if address in WILDCARDS or not HOST.match(address) else address


def port_of(text: str) -> int:
    """The port that a setting means; kubelet does not start with one that is none."""
    number = int(text) if text.isdecimal() and len(text) < 6 else PORT
    return number if number < 65536 else PORT


def url(address: str, port: int) -> str | None:
    """The URL of /healthz; None where kubelet listens nowhere."""
    host = reached(address)
    if not port:
        return None
    return f"http://[{host}]:{port}/healthz" if ":" in host else f"http://{host}:{port}/healthz"


def place(words: list[str], texts: Iterable[str]) -> tuple[str, int] | None:
    """Host and port by kubelet's command line and files, the strongest last; None where it listens nowhere."""
    found = (each for text in texts for each in hints(text, *FIELDS))
    said = {key: "" if value in NULLS else value for key, value in found}
    port = option(words, FLAGS[0]) or said.get(FIELDS[0], "")
    address = option(words, FLAGS[1]) or said.get(FIELDS[1], "")
    number = port_of(port)
    return (reached(address), number) if number else None


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
