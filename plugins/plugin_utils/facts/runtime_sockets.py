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
"""Seconds by which a file system's clock and the one of process starts may differ."""


def absolute_socket(path: str) -> str:
    """The plain path of a socket; one that is relative is where systemd starts services, in ``/``.

    ``@`` marks a name that no file system has: unix(7), and Go's net package.
    """
    return path if path.startswith("@") else posixpath.normpath("/" + path.lstrip("/"))


def _normalize(path: str) -> str:
    # /var/run is a link to /run, and the kernel prints the path that was bound.
    return absolute_socket(path).replace("/var/run/", "/run/")


def with_socket_state(
    nri: NriFacts, sockets: Mapping[str, Mapping[str, Any]], process: Mapping[str, Any] | None
) -> NriFacts:
    """What the files say, with what runs; ``sockets`` are the listening ones by path, ``process`` is the runtime's."""
    socket = {_normalize(path): listener for path, listener in sockets.items()}.get(_normalize(nri.socket_path))
    return replace(
        nri,
        configured=nri.supported is not False and nri.configured,
        running=socket is not None,
        socket_stale=socket is not None and _is_older(socket, process),
    )


def _is_older(socket: Mapping[str, Any], process: Mapping[str, Any] | None) -> bool:
    """A runtime binds its socket anew at each start; an older one belongs to somebody else."""
    started, created = (process or {}).get("started_at"), socket.get("ctime")
    return started is not None and created is not None and created + CLOCK_STEP < started
