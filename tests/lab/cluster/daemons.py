# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Processes of the control plane: they outlive the command, and each carries a mark in its environment."""

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
"""Seconds between two looks."""


def start(component: Component, uuid: str, directory: Path, log: Path) -> None:
    """Start it in a session of its own, its output appended to ``log``; it is seen to run, or to have ended, after."""
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
    # The kernel shows no environment until it has set up the new program, which is after Popen returns.
    while process.poll() is None and not _marked_program(Path("/proc") / str(process.pid), uuid):
        time.sleep(POLL_SECONDS)


def running(uuid: str, proc: Path = Path("/proc")) -> dict[str, int]:
    """Program name to process of what runs with the mark ``uuid``."""
    pids = {}
    for directory in proc.glob("[0-9]*"):
        name = _marked_program(directory, uuid)
        if name:
            pids[name] = int(directory.name)
    return pids


def end(uuid: str) -> None:
    """Kill what runs with the mark. Its data is deleted next, and an API server with open watches stops slowly."""
    for name, pid in running(uuid).items():
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
