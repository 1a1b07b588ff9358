# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The typed state of a container runtime. Unknown is None; nothing defaults to cgroupfs."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...module_utils.cgroup.kubelet_names import Driver
from .config_file import ConfigFile
from .containerd_layers import Layers


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
