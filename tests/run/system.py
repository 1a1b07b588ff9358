# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs system tests; where a node went silent, what failed is run once more on a new one, and that is said."""

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
    """The name of the stage, then arguments of pytest."""
    stage, *tests = arguments
    environment = stage_environment(os.environ, stage)
    # What failed last is another stage's as well, beside this one.
    pytest = ("pytest", "--durations=0", "--durations-min=5", "-o", f"cache_dir=.cache/pytest-{stage}", *tests)
    return run(CHECKOUT, environment, Lab(CHECKOUT, environment), pytest)


def run(checkout: Path, environment: Mapping[str, str], lab: Lab, pytest: Sequence[str]) -> int:
    """pytest's exit status, the second one's if there had to be a second."""
    with Watch(lab) as watch:
        status = subprocess.call(pytest, cwd=checkout, env=environment)
        silent = watch.silent() if status else {}
        if not silent:
            return status
        for name, said in silent.items():
            print(
                f"node {name} went silent; what failed is run again on a new one. What it was at:\n{said}", flush=True
            )
        lab.down()
        again = [*pytest, "--last-failed", "--last-failed-no-failures", "none"]
        return subprocess.call(again, cwd=checkout, env=environment)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
