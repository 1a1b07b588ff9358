# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a knob is: one setting of a cgroup, whatever file or property holds it on a node."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import AbstractSet, Tuple, Union

Limits = Tuple[Tuple[str, int], ...]
"""The limits of one device, sorted: (("rbps", 1048576), ("wiops", 100)); what is not named is unlimited."""

Devices = Tuple[Tuple[str, Limits], ...]
"""The limits of devices, sorted, each by its MAJOR:MINOR."""

Value = Union[int, bool, None, str, Tuple[int, ...], Devices]
"""The neutral value of a knob, by its Kind; None is ``max``, that is: no limit, and for a weight: systemd's default."""


class Kind(str, Enum):
    """What a value is. In brackets: its neutral form."""

    INTEGER = "integer"  # (int)
    BOOLEAN = "boolean"  # (bool)
    BYTES = "bytes"  # (int)
    CPU_TIME = "CPU time"  # (int: microseconds of CPU in a second, so that it outlives a change of the period)
    MICROSECONDS = "microseconds"  # (int)
    CPUS = "list of ids"  # (tuple of int, sorted; empty: those of the parent)
    CHOICE = "choice"  # (str)
    DEVICES = "limits by device"  # (Devices)


class Form(str, Enum):
    """How a kernel file writes a value: codec.py has both directions."""

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
    CPU_MAX = "quota and period, of which the quota"
    CPU_MAX_PERIOD = "quota and period, of which the period"
    CFS_QUOTA = "quota in the period"
    CFS_RATE = "quota in the period, kept in proportion to it"
    MEMSW = "memory and swap together"
    IO_MAX = "limits by device"
    THROTTLE_RBPS = "bytes read in a second, by device"
    THROTTLE_WBPS = "bytes written in a second, by device"
    THROTTLE_RIOPS = "reads in a second, by device"
    THROTTLE_WIOPS = "writes in a second, by device"
    BESIDE = "read with the others, never written"
    FORGOTTEN = "reset by the kernel when the others are written"


@dataclass(frozen=True)
class KernelFile:
    name: str
    form: Form


@dataclass(frozen=True)
class Interface:
    """The files of one cgroup version. With ``any_of`` one of them is enough, else all are needed."""

    controller: str
    files: tuple[KernelFile, ...]
    any_of: bool = False


@dataclass(frozen=True)
class UnitProperty:
    """The systemd property; ``names`` has more than one where systemd splits a knob up.

    ``on_v1`` tells whether systemd writes it on cgroup v1 as well; ``since`` is the first version that has it.
    """

    names: tuple[str, ...]
    signature: str
    since: int
    on_v1: bool = False


@dataclass(frozen=True)
class Knob:
    """One row of the registry. ``minimum`` and ``maximum`` bound the neutral value.

    ``granule`` is what the kernel rounds bytes down to; 0 is a page.
    ``overwritten_since``: the first systemd that writes the v2 file of its own accord; no property of a slice holds it.
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
        """The files on ``v1`` or ``v2``; None where the kernel has no such knob."""
        return self.v2 if mode == "v2" else self.v1

    def controller(self, mode: str) -> str:
        """The controller that the files belong to; empty where there is no such knob."""
        interface = self.v2 if mode == "v2" else self.v1
        return interface.controller if interface else ""

    def files(self, mode: str) -> tuple[str, ...]:
        """Names of the files that hold the knob, all of which are read."""
        interface = self.interface(mode)
        return tuple(each.name for each in interface.files) if interface else ()

    def forgotten(self, mode: str) -> tuple[str, ...]:
        """Names of the files that the kernel resets when the knob is written; they are another knob's."""
        interface = self.interface(mode)
        files = interface.files if interface else ()
        return tuple(each.name for each in files if each.form is Form.FORGOTTEN)

    def supported(self, mode: str, present: AbstractSet[str]) -> bool:
        """Whether a cgroup folder with these files has the knob: its feature file, or files, are there."""
        interface = self.interface(mode)
        if interface is None:
            return False
        found = [each.name in present for each in interface.files]
        return any(found) if interface.any_of else all(found)

    def in_systemd(self, mode: str, version: int) -> bool:
        """Whether systemd of this version writes the knob itself, so that a raw write would be undone."""
        held = self.unit_property
        return held is not None and version >= held.since and (mode == "v2" or held.on_v1)

    @property
    def property_names(self) -> tuple[str, ...]:
        return self.unit_property.names if self.unit_property else ()
