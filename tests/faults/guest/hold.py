# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs on a node: stops the engine of a transaction (SIGSTOP) as soon as its journal names a given moment.

Arguments: the step or state to wait for, and seconds. Prints a JSON document: the transaction, the engine's process,
and the step and state at which it stopped. It runs on the node because steps may be shorter than an ssh connection.
"""

from __future__ import annotations

import glob
import json
import os
import re
import signal
import sys
import time
from typing import Any

DIRECTORY = "/var/lib/volcano-colocation"
PAUSE = 0.001
STOPPING = 10.0
STOPPED = ("T", "t")


def newest() -> tuple[str, float]:
    """Return path and modification time of the newest journal; ids begin with the time."""
    journals = sorted(glob.glob(f"{DIRECTORY}/transactions/*/journal.json"))
    return (journals[-1], os.stat(journals[-1]).st_mtime_ns) if journals else ("", 0)


def read(path: str) -> dict[str, Any]:
    with open(path) as stream:
        document: dict[str, Any] = json.load(stream)
    return document


def engine() -> int:
    """Return the process that holds the lock, from the lock file."""
    with open(f"{DIRECTORY}/lock") as stream:
        match = re.search(r"pid (\d+)", stream.read())
    return int(match[1]) if match else 0


def is_stopped(pid: int) -> bool:
    with open(f"/proc/{pid}/stat") as stream:
        return stream.read().rpartition(")")[2].split()[0] in STOPPED


def stop(pid: int) -> None:
    os.kill(pid, signal.SIGSTOP)
    deadline = time.monotonic() + STOPPING
    while not is_stopped(pid) and time.monotonic() < deadline:
        time.sleep(PAUSE)


def is_at(journal: dict[str, Any], moment: str) -> bool:
    return moment in (journal["step"], journal["state"])


def main(moment: str, patience: float) -> int:
    """Return 0 if the engine was stopped, 1 if the moment did not come or the engine had ended."""
    deadline = time.monotonic() + patience
    last: tuple[str, float] = ("", 0)
    while time.monotonic() < deadline:
        try:
            now = newest()
            if now != last and now[0] and is_at(read(now[0]), moment):
                pid = engine()
                stop(pid)
                journal = read(now[0])
                engine_state = {"id": journal["id"], "pid": pid, "step": journal["step"], "state": journal["state"]}
                print(json.dumps({**engine_state, "hit": is_at(journal, moment)}))
                return 0
            last = now
        except (FileNotFoundError, ProcessLookupError):
            pass
        time.sleep(PAUSE)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], float(sys.argv[2])))
