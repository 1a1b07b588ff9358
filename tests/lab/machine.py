# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node's machine as every engine sees it, and the names of the files in the node's directory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

INITRD, PID, SERIAL_LOG = "initrd.img", "machine.pid", "serial.log"


@dataclass(frozen=True)
class Machine:
    """``subnet`` is N of 10.0.N.0/24, ``memory`` is in MiB. ``base`` is the raw disk that the machine's disk overlays;
    ``seed`` is an overlay that is copied as the machine's disk.

    ``directory`` holds the files of this machine; ``uuid`` marks its processes.
    """

    name: str
    uuid: str
    directory: Path
    kernel: Path
    kernel_line: str
    base: Path
    subnet: int
    cpus: int
    memory: int
    numa: int
    seed: Path | None = None

    @property
    def address(self) -> str:
        """The node's own address."""
        return f"10.0.{self.subnet}.15"
