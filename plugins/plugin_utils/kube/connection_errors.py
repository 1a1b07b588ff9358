# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why an API server did not respond, or a kubeconfig cannot be used, in plain words.

The messages of urllib3 and of the library kubernetes have the names of Python's classes and numbers of errors.
"""

from __future__ import annotations

import os
import re
import socket
import ssl
from collections.abc import Iterator

import yaml

from ...module_utils.errors import CONNECTION_FAILED
from ..edit.readers import yaml_error

_HOST = re.compile(r"host='([^']*)', port=(\d+)")


def describe_connection(error: BaseException) -> str:
    """The reason for a request without a response."""
    causes = list(_causes(error))
    known = (_describe(cause) for cause in causes)
    reason = next((reason for reason in known if reason), CONNECTION_FAILED)
    host = next((match for match in map(_HOST.search, map(str, causes)) if match), None)
    return f"{host[1]}:{host[2]}: {reason}" if host else reason


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and what it wraps, the innermost one first; each once."""
    known: list[BaseException] = []
    pending: list[object] = [error]
    while pending:
        current = pending.pop()
        if isinstance(current, BaseException) and current not in known:
            known.append(current)
            pending += [getattr(current, "reason", None), current.__cause__, current.__context__, *current.args]
    yield from reversed(known)


def _describe(error: BaseException) -> str | None:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({error.verify_message.rstrip('.')}); check the kubeconfig's CA"
    if isinstance(error, ssl.SSLError):
        return "it does not use TLS, or refuses it; check the server's address in the kubeconfig"
    if isinstance(error, socket.gaierror) or type(error).__name__ == "NameResolutionError":
        return "its name cannot be resolved"
    if isinstance(error, TimeoutError) or "Timeout" in type(error).__name__:
        return "it did not respond in time"
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno).lower()
    return None


def describe_kubeconfig(error: Exception) -> str:
    """The reason for a kubeconfig that cannot be loaded."""
    if isinstance(error, yaml.MarkedYAMLError):
        parse_error = yaml_error(error)
        return f"line {parse_error.line}: {parse_error.message}"
    if isinstance(error, OSError):
        return (error.strerror or "it cannot be read").lower()
    if type(error).__name__ == "ConfigException":
        return first_line(str(error)).removeprefix("Invalid kube-config file. ")
    return "it does not have the structure of a kubeconfig"


def first_line(text: str) -> str:
    """The first line of a message from a server or a library."""
    return next(iter(text.strip().splitlines()), "no reason given")
