# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs of the host, run with their output in a log file or returned."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from .errors import LabError


class CommandError(LabError):
    """A program that failed; ``status`` is negative when a signal ended it."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


def logged(argv: Sequence[str], log: Path, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> None:
    """Run a program, its output appended to ``log``; CommandError names the log when it fails."""
    with log.open("ab") as stream:
        stream.write(("$ " + " ".join(argv) + "\n").encode())
        stream.flush()
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream, cwd=cwd, env=_environment(env), check=False
        )
    if done.returncode != 0:
        message = f"{argv[0]} failed with exit status {done.returncode}; its output is in {log}"
        raise CommandError(message, done.returncode)


def output(
    argv: Sequence[str], timeout: float = 60, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> str:
    """Standard output of a short program; LabError has its standard error when it fails."""
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            cwd=cwd,
            env={**os.environ, **(env or {})},
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise LabError(f"{argv[0]} did not answer within {timeout:.0f} s") from error
    if done.returncode != 0:
        raise LabError(f"{' '.join(argv[:3])} failed: {done.stderr.strip() or done.returncode}")
    return done.stdout


def _environment(extra: Mapping[str, str] | None) -> dict[str, str]:
    return {**os.environ, "LC_ALL": "C.UTF-8", **(extra or {})}
