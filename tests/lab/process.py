# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ending a process of the lab, and never another one that got its number."""

from __future__ import annotations

import contextlib
import os
import select
import signal
from collections.abc import Callable
from pathlib import Path

from .errors import LabError

PATIENCE = 10.0


def read_pid(path: Path) -> int | None:
    """The number in a pid file; None when there is none."""
    try:
        pid = int(path.read_text())
    except (OSError, ValueError):
        return None
    return pid if pid > 1 else None


def is_machine(pid: int, uuid: str, proc: Path = Path("/proc")) -> bool:
    """True when process ``pid`` is the QEMU that was started with ``-uuid UUID``."""
    try:
        words = (proc / str(pid) / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    if not os.path.basename(words[0]).startswith(b"qemu-system") or b"-uuid" not in words:
        return False
    at = words.index(b"-uuid") + 1
    return words[at : at + 1] == [uuid.encode()]


def end_machine(pid: int, uuid: str) -> None:
    """Stop that QEMU and wait for its end; does nothing when the number is another process's by now."""
    end(pid, lambda number: is_machine(number, uuid))


def end(pid: int, is_ours: Callable[[int], bool]) -> None:
    """Stop a process and wait for its end; does nothing when the number is by now of a process that is not ours."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        # The handle was taken first: it means the process that is looked at now, even if the number is used again.
        if not is_ours(pid):
            return
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(handle, number)
            if select.select([handle], [], [], PATIENCE)[0]:
                return
        raise LabError(f"process {pid} does not end")
    finally:
        os.close(handle)
