# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The typed state of a container runtime and of its NRI socket. Unknown is None; nothing defaults to cgroupfs."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ...module_utils.cgroup.kubelet_names import Driver
from .config_file import ConfigFile
from .containerd_layers import Layers

CLOCK_STEP = 2.0
"""Seconds by which the clock of a file system and that of process starts may differ."""


@dataclass(frozen=True)
class Handler:
    """A runtime handler of runc type; ``running``: the driver that the CRI reports, None if it reports none.

    ``configured`` is None if containerd would not accept the files, or if it is unknown how its release reads them.
    """

    name: str
    configured: Driver | None
    running: Driver | None
    declared: bool
    source: str | None = None
    binary: str | None = None


@dataclass(frozen=True)
class NriFacts:
    supported: bool | None
    configured: bool
    running: bool
    socket_path: str
    socket_stale: bool = False


@dataclass(frozen=True)
class Defect:
    """Content of a runtime's file that prevents its start or is ignored; ``code``: the code of the finding."""

    code: str
    file: str
    message: str
    line: int | None = None


@dataclass(frozen=True)
class CrioFacts:
    """The directory of CRI-O's drop-ins, and whether all of them were read."""

    directory: str
    complete: bool


@dataclass(frozen=True)
class RuntimeFacts:
    """``layers``: the effective files in merge order; ``captured``: all recorded files, also missing ones.

    ``merged``: the document that containerd merges from its files; empty for another runtime. ``effective_schema``: the
    schema of the merged document; ``config_version``: that of the main file.
    """

    name: str | None
    installed: bool
    running: bool
    version: str | None
    endpoint: str
    config: ConfigFile
    config_version: int | None
    imports: tuple[str, ...]
    disabled_plugins: tuple[str, ...]
    handlers: tuple[Handler, ...]
    nri: NriFacts
    kill_mode: str | None
    layers: tuple[ConfigFile, ...] = ()
    captured: tuple[ConfigFile, ...] = ()
    default_handler: str | None = None
    defects: tuple[Defect, ...] = ()
    command_line: tuple[str, ...] = ()
    crio: CrioFacts | None = None
    program: str | None = None
    effective_schema: int | None = None
    merged: Layers = field(default_factory=lambda: Layers(()))

    @property
    def unit(self) -> str:
        """Name of the runtime's service, without ``.service``."""
        return {"cri-o": "crio"}.get(self.name or "", self.name or "containerd")


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
