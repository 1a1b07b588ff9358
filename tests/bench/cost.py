# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The time and memory that a command takes on this machine."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

TIMEOUT = 1800.0
"""Seconds after which a hanging command is stopped."""


@dataclass(frozen=True)
class Cost:
    """Wall and CPU seconds, and MiB of the largest process; includes child processes that the command waited for."""

    wall: float
    cpu: float
    peak_mib: float


def run_measured(
    argv: Sequence[str], log: Path, environment: Mapping[str, str], directory: Path, timeout: float = TIMEOUT
) -> tuple[int, Cost]:
    """Run a command with its output in ``log``; returns its exit status (negative: a signal) and its cost."""
    with log.open("wb") as output:
        began = time.monotonic()
        process = subprocess.Popen(
            argv,
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        deadline = threading.Timer(timeout, os.killpg, (process.pid, signal.SIGTERM))
        deadline.start()
        try:
            # Not process.wait(): only wait4 returns the usage of this child alone.
            _pid, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.terminate()
            process.wait()
            raise
        finally:
            deadline.cancel()
        wall = time.monotonic() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
