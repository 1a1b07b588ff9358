# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One question to the API server with kubelet's own rights; nothing of what it takes to ask is in any message."""

from __future__ import annotations

import os
import socket
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Iterator

from ..errors import ColocationError
from ..host import Host
from .kubeconfig import Access

if TYPE_CHECKING:
    import ssl

TIMEOUT = 5.0
"""Seconds for the connection, for the handshake, and for the answer."""
LIMIT = 1 << 22
"""Bytes; a Node lists its images, and annotations may have 256 KiB."""
PARTIAL_CHAIN = 0x80000
"""X509_V_FLAG_PARTIAL_CHAIN (ssl names it since 3.10): a given authority need not be a root, as in Go's crypto/x509."""
OTHER_NAME = (62, 64)
"""X509_V_ERR_HOSTNAME_MISMATCH and X509_V_ERR_IP_ADDRESS_MISMATCH; their text names the address."""
RUN = "/run"


class RequestFailed(ColocationError):
    """Nobody answers, or not so that it could be trusted. The message goes on behind "the API server"."""


def get(host: Host, access: Access, path: str) -> tuple[int, bytes]:
    """(HTTP status, body) of a GET; NoAnswer with the reason. ``path`` begins with a slash."""
    # Here, because only a node of a cluster needs it and it is half of our import time.
    import ssl

    context = _context(host, access)
    try:
        plain = socket.create_connection((access.address, access.port), TIMEOUT)
        with plain, context.wrap_socket(plain, server_hostname=access.server_name) as connection:
            connection.sendall(_request(access, path))
            return _parse_response(_receive(connection))
    except ssl.SSLCertVerificationError as error:
        why = "it is for another name" if error.verify_code in OTHER_NAME else error.verify_message
        raise RequestFailed(f"shows a certificate that does not hold: {why}") from None
    except ssl.SSLError as error:
        # Before Python 3.10 OpenSSL 3's own error of a hang-up has no class of its own, and a wrong name.
        if isinstance(error, ssl.SSLEOFError) or "unexpected eof" in str(error):
            raise RequestFailed("is silent: it hangs up") from None
        raise RequestFailed(f"ends TLS with {error.reason or 'an error'}") from None
    except socket.timeout:
        raise RequestFailed(f"is silent: no answer within {TIMEOUT:.0f} s") from None
    except OSError as error:
        raise RequestFailed(f"is silent: {error.strerror or type(error).__name__}") from None
    except ValueError:
        # A name that is none: labels that are empty or too long.
        raise RequestFailed("has a name that cannot be looked up") from None


def _request(access: Access, path: str) -> bytes:
    name = f"[{access.address}]" if ":" in access.address else access.address
    lines = [
        f"GET {access.prefix}{path} HTTP/1.0",
        f"Host: {name}:{access.port}",
        "Accept: application/json",
        "User-Agent: volcano-colocation",
    ]
    if access.token:
        lines.append(f"Authorization: Bearer {access.token}")
    return "\r\n".join([*lines, "", ""]).encode("ascii")


def _receive(connection: ssl.SSLSocket) -> bytes:
    """All that comes until the end, which a server of HTTP/1.0 makes by closing."""
    import ssl

    deadline = time.monotonic() + TIMEOUT
    answer = bytearray()
    while len(answer) <= LIMIT:
        left = deadline - time.monotonic()
        if left <= 0:
            raise socket.timeout
        connection.settimeout(left)
        try:
            piece = connection.recv(1 << 16)
        except ssl.SSLError:
            if not answer:
                raise
            piece = b""  # closed without TLS's own farewell; of a document that was cut off nothing is taken
        if not piece:
            return bytes(answer)
        answer += piece
    raise RequestFailed("gives an answer without an end")


def _parse_response(answer: bytes) -> tuple[int, bytes]:
    head, _gap, body = answer.partition(b"\r\n\r\n")
    status = head.split(b" ", 2)[1:2]
    if not head.startswith(b"HTTP/") or not status or len(status[0]) != 3 or not status[0].isdigit():
        raise RequestFailed("does not speak HTTP")
    return int(status[0]), body


def _context(host: Host, access: Access) -> ssl.SSLContext:
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.verify_flags |= PARTIAL_CHAIN
    try:
        if not access.verified:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        elif access.authority is None:
            context.load_default_certs()
        else:
            context.load_verify_locations(cadata=access.authority.decode("ascii", "ignore"))
        if access.certificate and access.key:
            with _memory_file(host, access.certificate) as certificate, _memory_file(host, access.key) as key:
                context.load_cert_chain(certificate, key, _refuse_password)
    except (OSError, ValueError):
        # Both also stand for what OpenSSL cannot read.
        raise RequestFailed("cannot be asked: a certificate or key of kubelet's kubeconfig cannot be used") from None
    return context


def _refuse_password() -> bytes:
    """Nobody is there to be asked for the password of a key."""
    raise ValueError


@contextmanager
def _memory_file(host: Host, content: bytes) -> Iterator[str]:
    """A path to a file in memory without a name: OpenSSL reads certificates and keys from paths only."""
    in_memory = getattr(os, "memfd_create", None)  # since 3.8
    if in_memory is not None:
        handle = in_memory("volcano-colocation")
    else:
        handle = os.open(host.real_path(RUN), os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as stream:
        stream.write(content)
        stream.flush()
        yield f"/proc/self/fd/{handle}"
