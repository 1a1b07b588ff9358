# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs system tests; if a node went silent, this is printed and the failed tests run once more on a new node."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from .nodes import Lab
from .places import CHECKOUT, stage_environment
from .watch import Watch


def main(arguments: Sequence[str]) -> int:
    """Run pytest; the arguments are the name of the stage, then arguments of pytest."""
    stage, *tests = arguments
    environment = stage_environment(os.environ, stage)
    # A separate cache directory, because stages that run in parallel would share pytest's list of failed tests.
    pytest = ("pytest", "--durations=0", "--durations-min=5", "-o", f"cache_dir=.cache/pytest-{stage}", *tests)
    return run(CHECKOUT, environment, Lab(CHECKOUT, environment), pytest)


def run(checkout: Path, environment: Mapping[str, str], lab: Lab, pytest: Sequence[str]) -> int:
    """The exit status of pytest, of the second run if one was necessary."""
    with Watch(lab) as watch:
        status = subprocess.call(pytest, cwd=checkout, env=environment)
        silent = watch.silent() if status else {}
        if not silent:
            return status
        for name, state in silent.items():
            print(
                f"node {name} went silent; failed tests run again on a new node. State of the node:\n{state}",
                flush=True,
            )
        lab.down()
        again = [*pytest, "--last-failed", "--last-failed-no-failures", "none"]
        return subprocess.call(again, cwd=checkout, env=environment)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
