# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ending a process of the lab, and never another one that got its number."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from .errors import LabError

TIMEOUT = 10.0
"""Seconds in which a process may end in order."""

KILL_TIMEOUT = 120.0
"""Seconds until a killed process has to have ended: what it was writing to a busy disk comes first."""

EXEC_SECONDS = 0.5

MARK = "COLOCATION_LAB_NODE"
"""The environment variable that marks the processes of a machine with its uuid."""


def read_pid(path: Path) -> int | None:
    """The number in a pid file; None when there is none."""
    try:
        pid = int(path.read_text())
    except (OSError, ValueError):
        return None
    return pid if pid > 1 else None


def marked_environment(uuid: str) -> dict[str, str]:
    """The environment of a process that belongs to the machine ``uuid``."""
    return {**os.environ, MARK: uuid}


def start(
    argv: Sequence[str],
    uuid: str,
    log: Path,
    descriptors: Iterable[int] = (),
    environment: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """Start a process of a machine that outlives this one, in the directory of its log; it is seen to carry the mark."""
    with log.open("ab") as stream:
        started = subprocess.Popen(
            argv,
            cwd=log.parent,
            env={**marked_environment(uuid), **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            pass_fds=tuple(descriptors),
            start_new_session=True,
        )
    # The kernel shows the new environment a moment after Popen returns.
    while started.poll() is None and not is_machine(started.pid, uuid):
        time.sleep(0.001)
    return started


def is_machine(pid: int, uuid: str, proc: Path = Path("/proc")) -> bool:
    """True when process ``pid`` was started with ``marked_environment(uuid)`` and has not ended."""
    return f"{MARK}={uuid}".encode() in _environment(proc / str(pid)).split(b"\0")


def _environment(directory: Path) -> bytes:
    """The environment of a process; empty when it has ended. While it starts another program there is none to read."""
    deadline = time.monotonic() + EXEC_SECONDS
    try:
        while True:
            content = (directory / "environ").read_bytes()
            if content or time.monotonic() > deadline or _has_ended(directory):
                return content
            time.sleep(0.001)
    except OSError:
        return b""


def _has_ended(directory: Path) -> bool:
    """proc(5): the state is the first field behind the name, which is in brackets."""
    return (directory / "stat").read_text().rpartition(")")[2].split()[0] in ("Z", "X")


def end_machine(pid: int, uuid: str) -> None:
    """Stop that process and wait for its end; does nothing when the number is another process's by now."""
    end(pid, lambda number: is_machine(number, uuid))


def kill_group(pid: int, uuid: str) -> None:
    """Kill that process with its group and wait for its end; does nothing when the number is another process's."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        if is_machine(pid, uuid):
            os.killpg(pid, signal.SIGKILL)
            if not is_readable(handle, KILL_TIMEOUT):
                raise LabError(f"process {pid} does not end")
    finally:
        os.close(handle)


def end(
    pid: int,
    is_managed: Callable[[int], bool],
    signals: Sequence[signal.Signals] = (signal.SIGTERM, signal.SIGKILL),
) -> None:
    """Stop a process and wait for its end; does nothing when the number is by now of a process that is not ours."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        # The handle was taken first: it means the process that is looked at now, even if the number is used again.
        if not is_managed(pid):
            return
        for number in signals:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(handle, number)
            if is_readable(handle, KILL_TIMEOUT if number == signal.SIGKILL else TIMEOUT):
                return
        raise LabError(f"process {pid} does not end")
    finally:
        os.close(handle)


def is_readable(descriptor: int, seconds: float) -> bool:
    """Whether it is readable, or over, within that time. Descriptors above 1023, too, which select(2) does not take."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(seconds * 1000))
