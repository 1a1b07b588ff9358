# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Processes of the control plane. They outlive the command; a variable in their environment identifies them."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from functools import partial
from pathlib import Path

from .. import process as processes
from .components import Component

MARK = "COLOCATION_LAB_CONTROL_PLANE"
POLL_SECONDS = 0.01
"""Seconds between two checks."""


def start(component: Component, uuid: str, directory: Path, log: Path) -> None:
    """Start a component in a separate session and append its output to ``log``; returns when it runs or has ended."""
    with log.open("ab") as stream:
        process = subprocess.Popen(
            component.argv,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            cwd=directory,
            env={**os.environ, MARK: uuid},
            start_new_session=True,
        )
    # /proc shows the new environment only after the kernel has set up the program, which may be after Popen returns.
    while process.poll() is None and not _marked_program(Path("/proc") / str(process.pid), uuid):
        time.sleep(POLL_SECONDS)


def running(uuid: str, proc: Path = Path("/proc")) -> dict[str, int]:
    """Program name to pid of the running processes with the mark ``uuid``; one of those with the same name."""
    return dict(_running(uuid, proc))


def _running(uuid: str, proc: Path) -> list[tuple[str, int]]:
    """(program name, pid) of all running processes with the mark."""
    names = ((_marked_program(directory, uuid), int(directory.name)) for directory in proc.glob("[0-9]*"))
    return [(name, pid) for name, pid in names if name]


def end(uuid: str, program: str = "") -> None:
    """Kill the processes with the mark, or only that of ``program``.

    SIGTERM would be slow with open watches, and their data is deleted next.
    """
    for name, pid in _running(uuid, Path("/proc")):
        if program in ("", name):
            processes.end(pid, partial(_is, name, uuid), (signal.SIGKILL,))


def _is(name: str, uuid: str, pid: int) -> bool:
    return _marked_program(Path("/proc") / str(pid), uuid) == name


def _marked_program(directory: Path, uuid: str) -> str:
    """Name of the program that a process runs; '' when it has another mark, none, or has ended."""
    try:
        if f"{MARK}={uuid}".encode() not in (directory / "environ").read_bytes().split(b"\0"):
            return ""
        return os.path.basename((directory / "cmdline").read_bytes().split(b"\0")[0]).decode(errors="replace")
    except OSError:
        return ""
