# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs tests of mutated code where they can neither change files of the machine nor reach its processes.

A mutant may take / for the root of a test's node, or 1 for a process: bubblewrap shows it a read-only machine.
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
"""Those of the virtual environment, to which `.cache/venv` of a checkout is a link."""

MEMORY = 8 * 1024 * 1024
"""KiB of address space of each process: a mutant may collect without end."""

LIMITS = 'ulimit -t "$1" && ulimit -v "$2" && shift 2 && exec "$@"'


@dataclass(frozen=True)
class Limit:
    """Seconds after which tests are stopped: of CPU time each process, of time all of them."""

    cpu: float
    wall: float


@dataclass(frozen=True)
class Sandbox:
    """A copy of the checkout that can be written, and how commands are started in it."""

    copy: Path
    isolation: tuple[str, ...]

    def run(self, arguments: list[str], limit: Limit, log: Path, variables: Mapping[str, str]) -> int | None:
        """Run Python with these arguments; its output goes to ``log``.

        The exit status is that of a shell, 128 and its number for a signal; None when it took too long.
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
    """All files are read-only but the copy, /tmp and /dev, which are its own, as are its processes and its network."""
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
    apart = ("--unshare-pid", "--unshare-ipc", "--unshare-net", "--die-with-parent", "--new-session")
    return Sandbox(copy, (PROGRAM, *files, *apart, "--chdir", str(copy), "--"))


def missing() -> str:
    """What a machine lacks on which mutated code cannot be kept from changing it, '' where nothing."""
    if shutil.which(PROGRAM) is None:
        return f"{PROGRAM} is not installed: apt-get install bubblewrap"
    command = [*isolated(Path.home()).isolation, "true"]
    tried = subprocess.run(command, capture_output=True, text=True, check=False)
    return f"{PROGRAM} cannot make namespaces: {tried.stderr.strip()}" if tried.returncode else ""


def environment(copy: Path, base: Mapping[str, str]) -> dict[str, str]:
    """That of the stages, for a copy; property tests try the same examples each time."""
    cache, own = str(places.CACHE), str(copy / places.CACHE.name)
    inside = {name: value.replace(cache, own) for name, value in places.tool_environment(base).items()}
    path = os.pathsep.join([str(PROGRAMS), base.get("PATH", os.defpath)])
    return {**inside, "CI": "true", "HOME": "/tmp", "PATH": path}
