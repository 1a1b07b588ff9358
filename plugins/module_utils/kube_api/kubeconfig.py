# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads from kubelet's kubeconfig how to access the API server; the data stays in memory and is never printed.

Format and rules: k8s.io/client-go tools/clientcmd, api/v1/types.go and client_config.go.
"""

from __future__ import annotations

import base64
import json
import os
import re
from dataclasses import dataclass, field
from typing import Any, Mapping
from urllib.parse import urlsplit

from ..host import Host
from . import yaml_subset
from .yaml_subset import UnsupportedSyntax

CLUSTER = frozenset(
    (
        "server",
        "tls-server-name",
        "insecure-skip-tls-verify",
        "certificate-authority",
        "certificate-authority-data",
        "disable-compression",
        "extensions",
    )
)
USER = frozenset(
    (
        "client-certificate",
        "client-certificate-data",
        "client-key",
        "client-key-data",
        "token",
        "tokenFile",
        "extensions",
    )
)
"""Supported keys of a cluster and a user. Any other key may change how to connect or to authenticate."""
UNSUPPORTED = (
    "exec",
    "auth-provider",
    "username",
    "password",
    "as",
    "as-uid",
    "as-groups",
    "as-user-extra",
    "proxy-url",
)
"""Unsupported keys that a message names; it does not repeat other keys, which may contain anything."""
TOKEN = re.compile(r"[\x21-\x7e]+\Z")
HTTPS_PORT = 443


@dataclass(frozen=True)
class Access:
    """Address of the API server, CA, and client credentials; certificates are PEM.

    ``authority`` None: the CAs of the system. Without ``verified``, the server's certificate is not checked.
    """

    address: str = field(repr=False)
    port: int = field(repr=False)
    prefix: str = field(repr=False)
    server_name: str = field(repr=False)
    verified: bool
    authority: bytes | None = field(repr=False)
    certificate: bytes | None = field(repr=False)
    key: bytes | None = field(repr=False)
    token: str | None = field(repr=False)


def read_access(host: Host, path: str) -> Access:
    """Read the kubeconfig at ``path``; UnsupportedSyntax with the place, but without any content."""
    text = _content(host, path, path).decode("utf-8", "surrogateescape")
    try:
        document = _json(text) if text.lstrip("\ufeff \t\r\n").startswith("{") else yaml_subset.parse(text)
        return _access(host, os.path.dirname(path), document)
    except UnsupportedSyntax as error:
        line = error.line or _line_of(text, error)
        raise UnsupportedSyntax(error.message, file=error.file or path, line=None if error.file else line) from None


class _UnknownKey(UnsupportedSyntax):
    """A key that is not supported."""

    def __init__(self, name: str) -> None:
        super().__init__(f"its {name}" if name in UNSUPPORTED else "one of its keys")
        self.name = name


def _line_of(text: str, error: UnsupportedSyntax) -> int | None:
    """The line of an unsupported key."""
    if not isinstance(error, _UnknownKey):
        return None
    pattern = re.compile(rf"""[\s{{,-]*["']?{re.escape(error.name)}["']?\s*:""")
    return next((number for number, line in enumerate(text.split("\n"), 1) if pattern.match(line)), None)


def _json(text: str) -> Any:
    try:
        return json.loads(text.lstrip("\ufeff"))
    except json.JSONDecodeError as error:
        raise UnsupportedSyntax("it is neither JSON nor block-style YAML", line=error.lineno) from None
    except RecursionError:
        raise UnsupportedSyntax("it is nested too deeply") from None


def _content(host: Host, path: str, name: str) -> bytes:
    try:
        return host.read_bytes(path)
    except (OSError, ValueError) as error:
        raise UnsupportedSyntax(getattr(error, "strerror", None) or "it cannot be read", file=name) from None


def _access(host: Host, directory: str, document: Any) -> Access:
    whole = _mapping(document, "the document")
    context = _named_entry(whole, "contexts", "context", _text(whole, "current-context"))
    cluster = _named_entry(whole, "clusters", "cluster", _text(context, "cluster"))
    user = _named_entry(whole, "users", "user", _text(context, "user"))
    for entry, known in ((cluster, CLUSTER), (user, USER)):
        for name, value in entry.items():
            if name not in known and value not in (None, "", [], {}):
                raise _UnknownKey(name)
    files = _Files(host, directory)
    address, port, prefix = _server(_text(cluster, "server"))
    key, certificate = files.pem(user, "client-key"), files.pem(user, "client-certificate")
    if (key is None) is not (certificate is None):
        raise UnsupportedSyntax("a client certificate or key is set without the other one")
    return Access(
        address=address,
        port=port,
        prefix=prefix,
        server_name=_text(cluster, "tls-server-name") or address,
        verified=not _boolean(cluster, "insecure-skip-tls-verify"),
        authority=files.pem(cluster, "certificate-authority"),
        certificate=certificate,
        key=key,
        token=_token(files, user),
    )


class _Files:
    """Files that a kubeconfig refers to; relative paths start at the directory of the kubeconfig."""

    def __init__(self, host: Host, directory: str) -> None:
        self._host = host
        self._directory = directory

    def pem(self, entry: Mapping[str, Any], name: str) -> bytes | None:
        """The certificates or the key of a field; embedded data takes precedence over a file."""
        embedded = _text(entry, f"{name}-data")
        if not embedded:
            return self.read(_text(entry, name), name)
        try:
            return base64.b64decode("".join(embedded.split()), validate=True)
        except ValueError:
            raise UnsupportedSyntax(f"{name}-data is not base64") from None

    def read(self, path: str, name: str) -> bytes | None:
        """The content of the file in the field ``name``."""
        if not path:
            return None
        return _content(self._host, os.path.join(self._directory, path), f"the {name} of kubelet's kubeconfig")


def _token(files: _Files, user: Mapping[str, Any]) -> str | None:
    """The bearer token; the file takes precedence: client-go transport/token_source.go."""
    content = files.read(_text(user, "tokenFile"), "tokenFile")
    token = _text(user, "token") if content is None else content.decode("ascii", "replace").strip()
    if token and not TOKEN.match(token):
        raise UnsupportedSyntax("the token has characters that are not printable")
    return token or None


def _server(url: str) -> tuple[str, int, str]:
    """(address, port, path prefix) of a server."""
    try:
        parts = urlsplit(url)
        port = parts.port or HTTPS_PORT
    except ValueError:
        raise UnsupportedSyntax("the server of its cluster is not a URL") from None
    plain = "".join((parts.netloc, parts.path))
    if parts.scheme != "https" or not parts.hostname or not TOKEN.match(plain) or parts.username or parts.query:
        raise UnsupportedSyntax("the server of its cluster is not an https:// URL")
    return parts.hostname, port, parts.path.rstrip("/")


def _named_entry(whole: Mapping[str, Any], plural: str, singular: str, name: str) -> Mapping[str, Any]:
    """The first entry of a list with this name; clientcmd does not write two."""
    entries = whole.get(plural) or []
    if isinstance(entries, list):
        for entry in entries:
            if isinstance(entry, dict) and name and entry.get("name") == name:
                return _mapping(entry.get(singular) or {}, f"one of its {plural}")
    raise UnsupportedSyntax(f"its {plural} have no entry with the selected name")


def _mapping(value: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise UnsupportedSyntax(f"{name} is not a mapping")
    return value


def _text(entry: Mapping[str, Any], name: str) -> str:
    value = entry.get(name)
    if value is not None and not isinstance(value, str):
        raise UnsupportedSyntax(f"{name} is not a string")
    return value or ""


def _boolean(entry: Mapping[str, Any], name: str) -> bool:
    value = entry.get(name)
    if value is not None and not isinstance(value, bool):
        raise UnsupportedSyntax(f"{name} is neither true nor false")
    return bool(value)
