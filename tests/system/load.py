# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""load.py SECONDS DIRECTORY: run a load in bursts in the cgroup DIRECTORY; print the number of throttled periods.

Each burst takes 110 ms of CPU and the next one begins 530 ms later: on average a fifth of a CPU, and for a moment a
whole one. Kernels that count CPU time in steps of 10 ms measure that, on a busy machine too. The quota may be that of
the cgroup or of a parent.
"""

from __future__ import annotations

import os
import sys
import time

BUSY, CYCLE = 0.11, 0.53
"""Seconds; the cycle is not a multiple of the period, so that bursts begin anywhere in one."""


def throttled(directory: str) -> int:
    """Periods in which a quota was used up."""
    periods = 0
    while os.path.exists(f"{directory}/cpu.stat"):
        with open(f"{directory}/cpu.stat", encoding="utf-8") as file:
            periods += sum(int(line.split()[1]) for line in file if line.startswith("nr_throttled "))
        directory = os.path.dirname(directory)
    return periods


def load(seconds: float) -> None:
    begin = time.monotonic()
    while time.monotonic() < begin + seconds:
        due, end = time.monotonic() + CYCLE, time.process_time() + BUSY
        while time.process_time() < end:
            pass
        time.sleep(max(0.0, due - time.monotonic()))


def main(seconds: float, directory: str) -> None:
    process = os.fork()
    if process == 0:
        with open(f"{directory}/cgroup.procs", "w", encoding="utf-8") as file:
            file.write(str(os.getpid()))
        time.sleep(CYCLE)
        before = throttled(directory)
        load(seconds)
        print(throttled(directory) - before, flush=True)
        os._exit(0)
    os.waitpid(process, 0)


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2])
