# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a runtime serves its NRI socket."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .runtime_state import NriFacts

CLOCK_STEP = 2.0
"""Seconds by which the clock of a file system and that of process starts may differ."""


def absolute_socket(path: str) -> str:
    """The normalized path of a socket; a relative path is below ``/``, where systemd starts services.

    ``@`` marks an abstract name, which is not in the file system: unix(7), and Go's net package.
    """
    return path if path.startswith("@") else posixpath.normpath("/" + path.lstrip("/"))


def _normalize(path: str) -> str:
    # /var/run is a link to /run; the kernel prints the path with which the socket was bound.
    return absolute_socket(path).replace("/var/run/", "/run/")


def with_socket_state(
    nri: NriFacts, sockets: Mapping[str, Mapping[str, Any]], process: Mapping[str, Any] | None
) -> NriFacts:
    """The facts with the state of the socket; ``sockets``: listening ones by path, ``process``: the runtime's."""
    socket = {_normalize(path): listener for path, listener in sockets.items()}.get(_normalize(nri.socket_path))
    return replace(
        nri,
        configured=nri.supported is not False and nri.configured,
        running=socket is not None,
        socket_stale=socket is not None and _is_older(socket, process),
    )


def _is_older(socket: Mapping[str, Any], process: Mapping[str, Any] | None) -> bool:
    """Whether the socket is older than the process: a runtime binds its socket at each start, so it is not its own."""
    started, created = (process or {}).get("started_at"), socket.get("ctime")
    return started is not None and created is not None and created + CLOCK_STEP < started
