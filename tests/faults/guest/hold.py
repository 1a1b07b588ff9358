# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs on a node: stops the engine of a transaction (SIGSTOP) as soon as its journal says a certain moment.

Arguments: the step or state to wait for, and seconds. Prints a JSON document: the transaction, the engine's process,
and the step and state at which it really stands. Steps may be shorter than a connection takes, so the node watches.
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

FOLDER = "/var/lib/volcano-colocation"
PAUSE = 0.001
STOPPING = 10.0
STOPPED = ("T", "t")


def newest() -> tuple[str, float]:
    """Path and age stamp of the newest journal; ids begin with the time."""
    found = sorted(glob.glob(f"{FOLDER}/transactions/*/journal.json"))
    return (found[-1], os.stat(found[-1]).st_mtime_ns) if found else ("", 0)


def read(path: str) -> dict[str, Any]:
    with open(path) as stream:
        found: dict[str, Any] = json.load(stream)
    return found


def engine() -> int:
    """Process that holds the lock, which names it."""
    with open(f"{FOLDER}/lock") as stream:
        found = re.search(r"pid (\d+)", stream.read())
    return int(found[1]) if found else 0


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
    """0 when the engine is held, 1 when the moment did not come, or the engine was gone."""
    deadline = time.monotonic() + patience
    last: tuple[str, float] = ("", 0)
    while time.monotonic() < deadline:
        try:
            now = newest()
            if now != last and now[0] and is_at(read(now[0]), moment):
                pid = engine()
                stop(pid)
                journal = read(now[0])
                held = {"id": journal["id"], "pid": pid, "step": journal["step"], "state": journal["state"]}
                print(json.dumps({**held, "hit": is_at(journal, moment)}))
                return 0
            last = now
        except (FileNotFoundError, ProcessLookupError):
            pass
        time.sleep(PAUSE)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], float(sys.argv[2])))
