# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the system tests; where a node went silent, what failed is run once more on a new one, and that is said."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from .nodes import Lab
from .places import CHECKOUT, tool_environment

# Two processes, each with one node at a time; which test is whose: tests/system/conftest.py.
TESTS = ("pytest", "--numprocesses", "2", "--dist", "loadscope", "tests/system")


def main(arguments: Sequence[str]) -> int:
    environment = tool_environment(os.environ)
    return run(CHECKOUT, environment, Lab(CHECKOUT, environment), arguments)


def run(checkout: Path, environment: Mapping[str, str], lab: Lab, arguments: Sequence[str]) -> int:
    """pytest's exit status, the second one's if there had to be a second."""
    status = subprocess.call([*TESTS, *arguments], cwd=checkout, env=environment)
    silent = {name: said for name in (lab.names() if status else ()) if (said := lab.silence(name))}
    if not silent:
        return status
    for name, said in silent.items():
        print(f"node {name} went silent; what failed is run again on a new one. What it was at:\n{said}", flush=True)
    lab.down()
    return subprocess.call(
        [*TESTS, "--last-failed", "--last-failed-no-failures", "none"], cwd=checkout, env=environment
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
