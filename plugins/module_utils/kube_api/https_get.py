# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One request to the API server as kubelet's user; no message contains its address or credentials."""

from __future__ import annotations

import os
import socket
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Iterator

from ..errors import ColocationError, reason_of
from ..host import Host
from .kubeconfig import Access

if TYPE_CHECKING:
    import ssl

TIMEOUT = 5.0
"""Seconds for the connection, for the handshake, and for the response."""
LIMIT = 1 << 22
"""Bytes; a Node lists its images, and annotations may have 256 KiB."""
PARTIAL_CHAIN = 0x80000
"""X509_V_FLAG_PARTIAL_CHAIN (ssl names it since 3.10): a trusted CA need not be a root, as in Go's crypto/x509."""
OTHER_NAME = (62, 64)
"""X509_V_ERR_HOSTNAME_MISMATCH and X509_V_ERR_IP_ADDRESS_MISMATCH; their text names the address."""
RUN = "/run"


class RequestFailed(ColocationError):
    """No response, or an untrusted or invalid one. The message continues the words "the API server"."""


def get(host: Host, access: Access, path: str) -> tuple[int, bytes]:
    """(HTTP status, body) of a GET; RequestFailed with the reason. ``path`` begins with a slash."""
    # Imported here: it takes half of the import time, and only a node of a cluster needs it.
    import ssl

    context = _context(host, access)
    try:
        plain = socket.create_connection((access.address, access.port), TIMEOUT)
        with plain, context.wrap_socket(plain, server_hostname=access.server_name) as connection:
            connection.sendall(_request(access, path))
            return _parse_response(_receive(connection))
    except ssl.SSLCertVerificationError as error:
        reason = "it is for another name" if error.verify_code in OTHER_NAME else error.verify_message
        raise RequestFailed(f"has an invalid certificate: {reason}") from None
    except ssl.SSLError as error:
        # Before Python 3.10, OpenSSL 3's error for a closed connection has no separate class, and a wrong name.
        if isinstance(error, ssl.SSLEOFError) or "unexpected eof" in str(error):
            raise RequestFailed("does not respond: it closes the connection") from None
        raise RequestFailed(f"fails the TLS handshake with {error.reason or 'an error'}") from None
    except socket.timeout:
        raise RequestFailed(f"does not respond: no response within {TIMEOUT:.0f} s") from None
    except OSError as error:
        raise RequestFailed(f"does not respond: {reason_of(error)}") from None
    except ValueError:
        # An invalid host name: its labels are empty or too long.
        raise RequestFailed("has an invalid host name") from None


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
    """All data until the server closes the connection, which ends an HTTP/1.0 response."""
    import ssl

    deadline = time.monotonic() + TIMEOUT
    response = bytearray()
    while len(response) <= LIMIT:
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            raise socket.timeout
        connection.settimeout(remaining)
        try:
            piece = connection.recv(1 << 16)
        except ssl.SSLError:
            if not response:
                raise
            piece = b""  # closed without close_notify; a truncated document fails to parse later
        if not piece:
            return bytes(response)
        response += piece
    raise RequestFailed(f"sends a response of more than {LIMIT} bytes")


def _parse_response(response: bytes) -> tuple[int, bytes]:
    head, _gap, body = response.partition(b"\r\n\r\n")
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
        # Both are also raised for input that OpenSSL cannot parse.
        raise RequestFailed("cannot be called: a certificate or key of kubelet's kubeconfig is invalid") from None
    return context


def _refuse_password() -> bytes:
    """Reject an encrypted key: its password is not available."""
    raise ValueError


@contextmanager
def _memory_file(host: Host, content: bytes) -> Iterator[str]:
    """The path of an unnamed file in memory: OpenSSL reads certificates and keys only from paths."""
    in_memory = getattr(os, "memfd_create", None)  # since 3.8
    if in_memory is not None:
        handle = in_memory("volcano-colocation")
    else:
        handle = os.open(host.real_path(RUN), os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as stream:
        stream.write(content)
        stream.flush()
        yield f"/proc/self/fd/{handle}"
