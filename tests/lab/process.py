# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Starting and ending processes of the lab, without ending an unrelated process that got the same pid."""

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
"""Seconds for a process to end on SIGTERM."""

KILL_TIMEOUT = 120.0
"""Seconds for a process to end on SIGKILL; its pending writes to a busy disk finish first."""

EXEC_SECONDS = 0.5

MARK = "COLOCATION_LAB_NODE"
"""The environment variable that marks the processes of a machine with its uuid."""


def read_pid(path: Path) -> int | None:
    """The pid in a pid file; None when the file is missing or malformed."""
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
    """Start a process that outlives this one, in its log's directory; returns when /proc shows its mark."""
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
    # /proc may show the new environment only after Popen returns.
    while started.poll() is None and not is_machine(started.pid, uuid):
        time.sleep(0.001)
    return started


def is_machine(pid: int, uuid: str, proc: Path = Path("/proc")) -> bool:
    """True when process ``pid`` was started with ``marked_environment(uuid)`` and has not ended."""
    return f"{MARK}={uuid}".encode() in _environment(proc / str(pid)).split(b"\0")


def _environment(directory: Path) -> bytes:
    """The environment of a process; empty when it has ended. During exec it is empty for a moment: read it again."""
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
    """proc(5): the state is the first field after the name in brackets."""
    return (directory / "stat").read_text().rpartition(")")[2].split()[0] in ("Z", "X")


def end_machine(pid: int, uuid: str) -> None:
    """Stop a process of a machine and wait for its end; does nothing when the pid belongs to another process."""
    end(pid, lambda number: is_machine(number, uuid))


def kill_group(pid: int, uuid: str) -> None:
    """Kill a machine's process group and wait for its end; does nothing when the pid belongs to another process."""
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
    """Stop a process and wait for its end; does nothing when ``is_managed`` is false for the pid."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        # The handle is opened first: it refers to the process that is checked here, even if the pid is reused.
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
    """True when the descriptor is readable or closed within that time. Unlike select(2), it may exceed 1023."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(seconds * 1000))
