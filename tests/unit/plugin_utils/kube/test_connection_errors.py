# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a request got no response: in words, and without the names of Python's classes."""

from __future__ import annotations

import errno
import os
import socket
import ssl

import pytest
from urllib3.connection import HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, MaxRetryError, NameResolutionError, NewConnectionError, SSLError
from urllib3.poolmanager import PoolManager

from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.connection_errors import describe_connection

PLACE = HTTPSConnection("api.example", 6443)
UNTRUSTED = ssl.SSLCertVerificationError(1, "certificate verify failed")
UNTRUSTED.verify_message = "self-signed certificate"


def refused() -> NewConnectionError:
    try:
        raise ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))
    except OSError as error:
        cause = NewConnectionError(PLACE, f"Failed to establish a new connection: {error}")
        cause.__cause__ = error
        return cause


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (refused(), "api.example:6443: connection refused"),
        (
            MaxRetryError(PoolManager().connection_from_host("api.example", 6443, "https"), "/", refused()),
            "api.example:6443: connection refused",
        ),
        (
            NameResolutionError("api.example", PLACE, socket.gaierror(-2, "Name or service not known")),
            "api.example:6443: its name cannot be resolved",
        ),
        (ConnectTimeoutError(PLACE, "timed out"), "it did not respond in time"),
        (TimeoutError("timed out"), "it did not respond in time"),
        (SSLError(UNTRUSTED), "its certificate is not trusted (self-signed certificate); check the kubeconfig's CA"),
        (
            SSLError(ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1006)")),
            "it does not use TLS, or refuses it; check the server's address in the kubeconfig",
        ),
        (ValueError("<object at 0x7f>"), "the connection failed"),
    ],
)
def test_the_innermost_cause_that_is_known_is_named(error: Exception, reason: str) -> None:
    described = describe_connection(error)
    assert described.endswith(reason)
    assert "Errno" not in described
    assert "object at" not in described
