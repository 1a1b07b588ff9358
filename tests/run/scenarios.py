# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the Molecule scenarios, two at a time; names of some may be given.

The node of a scenario that failed is left up, for the runner to read its journal.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from .places import CHECKOUT, tool_environment

AT_A_TIME = 2
"""One more emulated node than CPUs to spare makes both time out."""

TAIL = 60


@dataclass(frozen=True)
class Result:
    """How a scenario went; ``tail`` is the end of its output when it failed."""

    name: str
    passed: bool
    seconds: float
    tail: str


def main(names: Sequence[str]) -> int:
    chosen = names or scenarios(CHECKOUT)
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        results = list(pool.map(partial(run_scenario, CHECKOUT, tool_environment(os.environ)), chosen))
    for result in results:
        if not result.passed:
            print(f"--- {result.name}\n{result.tail}")
    for result in results:
        print(f"{result.name}: {'passed' if result.passed else 'FAILED'} in {result.seconds:.0f} s")
    return 0 if all(result.passed for result in results) else 1


def scenarios(checkout: Path) -> list[str]:
    return sorted(path.parent.name for path in (checkout / "molecule").glob("*/molecule.yml"))


def run_scenario(checkout: Path, environment: Mapping[str, str], name: str) -> Result:
    """The whole sequence of a scenario; its node is taken down only when it passed."""
    began = time.monotonic()
    own = {**environment, "MOLECULE_EPHEMERAL_DIRECTORY": str(checkout / ".cache" / "molecule" / name)}
    tail: deque[str] = deque(maxlen=TAIL)
    passed = all(
        _molecule(command, name, checkout, own, tail) for command in (("test", "--destroy", "never"), ("destroy",))
    )
    return Result(name, passed, time.monotonic() - began, "\n".join(tail))


def _molecule(
    command: tuple[str, ...], name: str, checkout: Path, environment: dict[str, str], tail: deque[str]
) -> bool:
    subcommand, *options = command
    with subprocess.Popen(
        ["molecule", subcommand, "--scenario-name", name, *options],
        cwd=checkout,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            tail.append(line.rstrip())
            print(f"{name}: {line.rstrip()}", flush=True)
    return process.returncode == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
