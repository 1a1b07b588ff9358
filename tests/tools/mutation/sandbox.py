# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs tests of mutated code isolated from the files and processes of the machine.

A mutant may use / as the root of a test's node, or 1 as a process id. bubblewrap makes the file system read-only.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ...run import places

PROGRAM = "bwrap"

PROGRAMS = Path(sys.prefix).resolve() / "bin"
"""Programs of the virtual environment, to which `.cache/venv` of a checkout is a link."""

MEMORY = 8 * 1024 * 1024
"""KiB of address space of each process, because a mutant may allocate memory endlessly."""

LIMITS = 'ulimit -t "$1" && ulimit -v "$2" && shift 2 && exec "$@"'


@dataclass(frozen=True)
class Limit:
    """Seconds after which tests are stopped: CPU time of each process, and wall time of all."""

    cpu: float
    wall: float


@dataclass(frozen=True)
class Sandbox:
    """A writable copy of the checkout, and the command that isolates programs in it."""

    copy: Path
    isolation: tuple[str, ...]

    def run(self, arguments: list[str], limit: Limit, log: Path, variables: Mapping[str, str]) -> int | None:
        """Run Python with these arguments; its output goes to ``log``.

        Returns the exit status as a shell does (128 plus the number of a signal); None if it took too long.
        """
        limited = ["sh", "-c", LIMITS, "sh", f"{limit.cpu:.0f}", str(MEMORY), str(PROGRAMS / "python"), *arguments]
        with log.open("wb") as output:
            try:
                status = subprocess.run(
                    [*self.isolation, *limited],
                    cwd=self.copy,
                    env={**environment(self.copy, os.environ), **variables},
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    timeout=limit.wall,
                    check=False,
                ).returncode
            except subprocess.TimeoutExpired:
                return None
        return status if status >= 0 else 128 - status


def isolated(copy: Path) -> Sandbox:
    """A sandbox with private /tmp, /dev, processes and network, in which only the copy is writable."""
    files = (
        "--ro-bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "--proc",
        "/proc",
        "--tmpfs",
        "/tmp",
        "--bind",
        str(copy),
        str(copy),
    )
    isolation = ("--unshare-pid", "--unshare-ipc", "--unshare-net", "--die-with-parent", "--new-session")
    return Sandbox(copy, (PROGRAM, *files, *isolation, "--chdir", str(copy), "--"))


def missing() -> str:
    """What the machine lacks for the isolation of mutated code; '' if nothing."""
    if shutil.which(PROGRAM) is None:
        return f"{PROGRAM} is not installed: apt-get install bubblewrap"
    command = [*isolated(Path.home()).isolation, "true"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return f"{PROGRAM} cannot make namespaces: {result.stderr.strip()}" if result.returncode else ""


def environment(copy: Path, base: Mapping[str, str]) -> dict[str, str]:
    """The environment of the stages, for a copy; property tests use the same examples each time."""
    cache, own = str(places.CACHE), str(copy / places.CACHE.name)
    inside = {name: value.replace(cache, own) for name, value in places.tool_environment(base).items()}
    path = os.pathsep.join([str(PROGRAMS), base.get("PATH", os.defpath)])
    return {**inside, "CI": "true", "HOME": "/tmp", "PATH": path}
