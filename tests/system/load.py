# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""load.py SECONDS FOLDER: a load that comes in bursts, in the cgroup FOLDER; prints in how many periods it was stopped.

Each burst takes 110 ms of CPU and the next one begins 530 ms after it: on average a fifth of a CPU, and for a moment a
whole one. Kernels that count CPU time in steps of 10 ms can tell that, on a busy machine too. What stopped it may be a
quota of the cgroup or of one above it.
"""

from __future__ import annotations

import os
import sys
import time

BUSY, CYCLE = 0.11, 0.53
"""Seconds; the cycle is not a multiple of the period, so that bursts begin anywhere in one."""


def throttled(folder: str) -> int:
    """Periods in which a quota was used up."""
    found = 0
    while os.path.exists(f"{folder}/cpu.stat"):
        with open(f"{folder}/cpu.stat", encoding="utf-8") as file:
            found += sum(int(line.split()[1]) for line in file if line.startswith("nr_throttled "))
        folder = os.path.dirname(folder)
    return found


def load(seconds: float) -> None:
    begin = time.monotonic()
    while time.monotonic() < begin + seconds:
        due, end = time.monotonic() + CYCLE, time.process_time() + BUSY
        while time.process_time() < end:
            pass
        time.sleep(max(0.0, due - time.monotonic()))


def main(seconds: float, folder: str) -> None:
    process = os.fork()
    if process == 0:
        with open(f"{folder}/cgroup.procs", "w", encoding="utf-8") as file:
            file.write(str(os.getpid()))
        time.sleep(CYCLE)
        before = throttled(folder)
        load(seconds)
        print(throttled(folder) - before, flush=True)
        os._exit(0)
    os.waitpid(process, 0)


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2])
