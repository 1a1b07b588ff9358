# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A knob: one setting of a cgroup, independent of the file or systemd property that holds it on a node."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import AbstractSet, Tuple, Union

Limits = Tuple[Tuple[str, int], ...]
"""The limits of one device, sorted: (("rbps", 1048576), ("wiops", 100)). A kind without an entry is unlimited."""

Devices = Tuple[Tuple[str, Limits], ...]
"""The limits of devices, sorted by device; a device is MAJOR:MINOR."""

Value = Union[int, bool, None, str, Tuple[int, ...], Devices]
"""The neutral value of a knob, by its Kind. None means ``max`` (no limit), and for a weight systemd's default."""


class Kind(str, Enum):
    """The type of a value. In brackets: its neutral form."""

    INTEGER = "integer"  # (int)
    BOOLEAN = "boolean"  # (bool)
    BYTES = "bytes"  # (int)
    CPU_TIME = "CPU time"  # (int: microseconds of CPU in a second, so that it is independent of the period)
    MICROSECONDS = "microseconds"  # (int)
    CPUS = "list of ids"  # (tuple of int, sorted; empty: those of the parent)
    CHOICE = "choice"  # (str)
    DEVICES = "limits by device"  # (Devices)


class Form(str, Enum):
    """The format of a value in a kernel file; codec.py parses and renders it."""

    NUMBER = "number"
    WEIGHT = "weight"
    MAX = "number or max"
    MINUS_ONE = "number or -1"
    FLAG = "0 or 1"
    LIST = "list of ids"
    WORD = "word"
    SHARES = "shares"
    DEFAULT_WEIGHT = "default and weight"
    BFQ_WEIGHT = "weight of BFQ"
    BLKIO_WEIGHT = "weight of CFQ"
    CPU_MAX = "quota, in one file with the period"
    CPU_MAX_PERIOD = "period, in one file with the quota"
    CFS_QUOTA = "quota in the period"
    CFS_RATE = "quota in the period, kept in proportion to it"
    MEMSW = "memory and swap together"
    IO_MAX = "limits by device"
    THROTTLE_RBPS = "bytes read in a second, by device"
    THROTTLE_WBPS = "bytes written in a second, by device"
    THROTTLE_RIOPS = "reads in a second, by device"
    THROTTLE_WIOPS = "writes in a second, by device"
    READ_ONLY = "read with the others, never written"
    RESET = "reset by the kernel when the others are written"


@dataclass(frozen=True)
class KernelFile:
    name: str
    form: Form


@dataclass(frozen=True)
class Interface:
    """The files of a knob on one cgroup version. With ``any_of`` one of them is enough; otherwise all are needed."""

    controller: str
    files: tuple[KernelFile, ...]
    any_of: bool = False


@dataclass(frozen=True)
class UnitProperty:
    """The systemd property of a knob; ``names`` has several entries where systemd splits the knob.

    ``on_v1``: systemd writes it on cgroup v1 as well. ``since``: the first systemd version that has it.
    """

    names: tuple[str, ...]
    signature: str
    since: int
    on_v1: bool = False


@dataclass(frozen=True)
class Knob:
    """One row of the registry. ``minimum`` and ``maximum`` bound the neutral value.

    ``granule``: the kernel rounds bytes down to a multiple of it; 0 means a page.
    ``overwritten_since``: the first systemd version that writes the v2 file unasked; no property of a slice holds it.
    """

    name: str
    kind: Kind
    unit: str
    minimum: int | None = None
    maximum: int | None = None
    unlimited: bool = False
    default: Value = None
    choices: tuple[str, ...] = ()
    v1: Interface | None = None
    v2: Interface | None = None
    unit_property: UnitProperty | None = None
    granule: int = 0
    overwritten_since: int | None = None
    note: str = ""

    def interface(self, mode: str) -> Interface | None:
        """The files on ``v1`` or ``v2``; None where the kernel does not have the knob."""
        return self.v2 if mode == "v2" else self.v1

    def controller(self, mode: str) -> str:
        """The controller of the files; empty where the kernel does not have the knob."""
        interface = self.v2 if mode == "v2" else self.v1
        return interface.controller if interface else ""

    def files(self, mode: str) -> tuple[str, ...]:
        """Names of all files that are read for the knob."""
        interface = self.interface(mode)
        return tuple(file.name for file in interface.files) if interface else ()

    def reset_files(self, mode: str) -> tuple[str, ...]:
        """Names of another knob's files that the kernel resets when this knob is written."""
        interface = self.interface(mode)
        files = interface.files if interface else ()
        return tuple(file.name for file in files if file.form is Form.RESET)

    def supported(self, mode: str, present: AbstractSet[str]) -> bool:
        """Whether a cgroup directory with the files ``present`` has the knob."""
        interface = self.interface(mode)
        if interface is None:
            return False
        existing = [file.name in present for file in interface.files]
        return any(existing) if interface.any_of else all(existing)

    def in_systemd(self, mode: str, version: int) -> bool:
        """Whether systemd of this version writes the knob itself, so that it would overwrite a raw write."""
        unit_property = self.unit_property
        return unit_property is not None and version >= unit_property.since and (mode == "v2" or unit_property.on_v1)

    @property
    def property_names(self) -> tuple[str, ...]:
        return self.unit_property.names if self.unit_property else ()
