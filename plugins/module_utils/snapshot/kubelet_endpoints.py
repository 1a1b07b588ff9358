# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence from kubelet's endpoints: the address and response of /healthz, and /configz."""

from __future__ import annotations

import json
import re
import socket
from typing import Any, Iterable

from .kubelet_files import hints
from .process_evidence import command_line_option

LOOPBACK = "127.0.0.1"
PORT = 10248
HOST = re.compile(r"[0-9A-Za-z][0-9A-Za-z.-]{0,252}\Z|[0-9A-Fa-f:.]{3,45}\Z")
WILDCARDS = ("", "0.0.0.0", "::")  # noqa: S104 - compared with kubelet's settings, not bound
"""Go listens for IPv4 at :: as well (net, favoriteAddrFamily)."""
NULLS = ("~", "null", "Null", "NULL")
"""YAML 1.1's null values, with which kubelet uses its default."""
HEALTHZ_FLAGS = ("--healthz-port", "--healthz-bind-address")
HEALTHZ_FIELDS = ("healthzPort", "healthzBindAddress")


def reachable_host(address: str) -> str:
    """The host to connect to from the node itself when kubelet listens at an address."""
    return LOOPBACK if address in WILDCARDS or not HOST.match(address) else address


def healthz_port(text: str) -> int:
    """The port of a setting. kubelet does not start with an invalid port."""
    number = int(text) if text.isdecimal() and len(text) < 6 else PORT
    return number if number < 65536 else PORT


def healthz_endpoint(address: str, port: int) -> str | None:
    """The URL of /healthz; None where kubelet does not serve it."""
    host = reachable_host(address)
    if not port:
        return None
    return f"http://[{host}]:{port}/healthz" if ":" in host else f"http://{host}:{port}/healthz"


def healthz_address(words: list[str], texts: Iterable[str]) -> tuple[str, int] | None:
    """Host and port from kubelet's command line and files (highest precedence last); None if not served."""
    settings = (hint for text in texts for hint in hints(text, *HEALTHZ_FIELDS))
    values = {key: "" if value in NULLS else value for key, value in settings}
    port = command_line_option(words, HEALTHZ_FLAGS[0]) or values.get(HEALTHZ_FIELDS[0], "")
    address = command_line_option(words, HEALTHZ_FLAGS[1]) or values.get(HEALTHZ_FIELDS[1], "")
    number = healthz_port(port)
    return (reachable_host(address), number) if number else None


def healthz(address: tuple[str, int], timeout: float = 3.0) -> str | None:
    """Body of GET /healthz, or None without a response. Uses a socket: http.client would double the import time."""
    request = b"GET /healthz HTTP/1.0\r\nHost: %s\r\n\r\n" % address[0].encode()
    response = b""
    try:
        with socket.create_connection(address, timeout) as connection:
            connection.sendall(request)
            while len(response) < 4096:
                piece = connection.recv(4096)
                if not piece:
                    break
                response += piece
    except (OSError, ValueError):
        return None
    return response.partition(b"\r\n\r\n")[2].decode("utf-8", "replace").strip()


CONFIGZ_TIMEOUT = 2.0
CONFIGZ_LIMIT = 1 << 20
FIELDS = (
    # kubelet's fields: written by make docs
    "cgroupDriver",
    "cgroupRoot",
    "cpuManagerPolicy",
    "cpuManagerPolicyOptions",
    "topologyManagerPolicy",
    "topologyManagerScope",
    "topologyManagerPolicyOptions",
    "memoryManagerPolicy",
    "reservedMemory",
    "reservedSystemCPUs",
    "systemReservedCgroup",
    "kubeReservedCgroup",
    "enforceNodeAllocatable",
    "memoryThrottlingFactor",
    "failCgroupV1",
    "singleProcessOOMKill",
    "podPidsLimit",
    "readOnlyPort",
    "featureGates",
    "systemReserved",
    "kubeReserved",
    "evictionHard",
    "cgroupsPerQOS",
    "failSwapOn",
    "containerRuntimeEndpoint",
    "memoryReservationPolicy",
    "staticPodPath",
    # end of kubelet's fields
)
"""The fields that are read from /configz. Other fields may contain secrets, such as staticPodURLHeader."""


def known_fields(body: bytes) -> dict[str, Any]:
    """The known fields of a /configz document; ValueError if the body is not one."""
    document = json.loads(body.decode("utf-8"))
    whole = document.get("kubeletconfig") if isinstance(document, dict) else None
    if not isinstance(whole, dict):
        raise ValueError("no kubeletconfig in the answer")
    return {key: whole[key] for key in FIELDS if key in whole}


def parse_response(response: bytes) -> dict[str, Any]:
    """``{status, config}`` or ``{status, error}`` of an HTTP/1.0 response."""
    head, _gap, body = response.partition(b"\r\n\r\n")
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
    """``parse_response`` of GET /configz without credentials. On loopback the certificate proves nothing."""
    import ssl  # here, because only a live node needs it and it takes half of the import time

    # Not create_default_context: it would read all certificates of the system for nothing.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    request = b"GET /configz HTTP/1.0\r\nHost: localhost\r\n\r\n"
    try:
        with socket.create_connection(address, CONFIGZ_TIMEOUT) as plain, context.wrap_socket(plain) as connection:
            connection.sendall(request)
            return parse_response(_receive(connection))
    except OSError as error:
        return {"status": None, "error": str(error.strerror or error)}


def _receive(connection: socket.socket) -> bytes:
    response = b""
    while len(response) <= CONFIGZ_LIMIT:
        try:
            piece = connection.recv(65536)
        except OSError:
            if not response:
                raise
            break  # closed without TLS's close_notify; a truncated document is rejected by the parser
        if not piece:
            break
        response += piece
    return response
