# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a node that does not answer is at, by QEMU's and its kernel's word: neither needs ssh."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from . import monitor, vm
from .errors import LabError
from .store import Node

SYSRQ = "8wlm"
"""Keys after a break on the serial port: show all, blocked tasks, what each CPU does, memory (admin-guide/sysrq)."""

SECONDS = 2.0
"""An emulated kernel takes that long to print an answer at 115,200 baud."""


def diagnose(node: Node) -> str:
    """Lines for a person: the VM's state, its CPUs and disks, then what the kernel printed when it was asked."""
    return "\n".join([*_machine(node.folder / vm.MONITOR), *_kernel(node)])


def _machine(path: Path) -> Iterator[str]:
    try:
        yield f"VM: {monitor.execute(path, 'query-status')}"
        for command in ("info cpus", "info blockstats", "info usernet"):
            answer = monitor.execute(path, "human-monitor-command", {"command-line": command})
            yield f"{command}: {str(answer).strip()}"
    except (LabError, ValueError) as error:
        yield f"VM: {error}"


def _kernel(node: Node) -> Iterator[str]:
    log = node.folder / vm.SERIAL_LOG
    before = log.stat().st_size
    try:
        for key in SYSRQ:
            monitor.execute(node.folder / vm.MONITOR, "chardev-send-break", {"id": "serial"})
            with monitor.unix_connection(node.folder / vm.SERIAL, timeout=10) as serial:
                serial.sendall(key.encode())
                time.sleep(SECONDS)
    except LabError as error:
        yield f"kernel: {error}"
    with log.open("rb") as stream:
        stream.seek(before)
        yield from stream.read().decode(errors="replace").splitlines() or ["kernel: it prints nothing when it is asked"]
