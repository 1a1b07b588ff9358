# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of a node that does not answer, as QEMU and the node's kernel report it without ssh."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from . import monitor, qemu
from .errors import LabError
from .machine import SERIAL_LOG
from .spec import Engine
from .store import Node
from .uml import management
from .uml.machine import management_socket

SYSRQ = "8wlm"
"""Show all messages, blocked tasks, backtraces of the CPUs, and memory (admin-guide/sysrq of Linux)."""

UNANSWERED_IN_USER_MODE = "l"
"""A user-mode kernel 7.2 with two CPUs prints the backtraces and then does not answer within 10 s."""

SECONDS = 2.0
"""Time that an emulated kernel needs to print a response at 115,200 baud."""


def diagnose(node: Node) -> str:
    """The machine's state, then the kernel's response, as lines of text."""
    log = node.directory / SERIAL_LOG
    before = log.stat().st_size
    lines = [*(_user_mode(node) if node.engine is Engine.UML else _virtual(node.directory))]
    with log.open("rb") as stream:
        stream.seek(before)
        printed = stream.read().decode(errors="replace").splitlines()
    return "\n".join([*lines, *(printed or ["kernel: no response to SysRq"])])


def _user_mode(node: Node) -> Iterator[str]:
    socket = management_socket(node.uuid)
    try:
        yield f"kernel: {management.execute(socket, 'version')}"
        for key in SYSRQ.replace(UNANSWERED_IN_USER_MODE, ""):
            management.execute(socket, f"sysrq {key}")
    except LabError as error:
        yield f"kernel: {error}"


def _virtual(directory: Path) -> Iterator[str]:
    path = directory / qemu.MONITOR
    try:
        yield f"VM: {monitor.execute(path, 'query-status')}"
        for command in ("info cpus", "info blockstats", "info usernet"):
            result = monitor.execute(path, "human-monitor-command", {"command-line": command})
            yield f"{command}: {str(result).strip()}"
        for key in SYSRQ:
            monitor.execute(path, "chardev-send-break", {"id": "serial"})
            with monitor.unix_connection(directory / qemu.SERIAL, timeout=10) as serial:
                serial.sendall(key.encode())
                time.sleep(SECONDS)
    except (LabError, ValueError) as error:
        yield f"VM: {error}"
