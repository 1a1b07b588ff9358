# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a command cost this machine."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PATIENCE = 1800.0
"""Seconds after which a command is stopped: it hangs."""


@dataclass(frozen=True)
class Cost:
    """Wall and CPU seconds, and MiB of the largest process; those that the command waited for are included."""

    wall: float
    cpu: float
    peak_mib: float


def run_measured(
    argv: Sequence[str], log: Path, environment: Mapping[str, str], folder: Path, patience: float = PATIENCE
) -> tuple[int, Cost]:
    """Run a command with its output in ``log``; its exit status (negative: a signal) and its cost."""
    with log.open("wb") as output:
        began = time.monotonic()
        process = subprocess.Popen(
            argv,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        deadline = threading.Timer(patience, os.killpg, (process.pid, signal.SIGTERM))
        deadline.start()
        try:
            # Not process.wait(): only wait4 tells the usage of this one child.
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
