# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the commands of a stage into its log, says now and then that it is alive, and stops what overruns."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from .stages import Command, Stage

HEARTBEAT = 15.0
"""Seconds between two lines of progress."""

LOOK = 0.1
"""Seconds between two looks at whether it is over."""

PATIENCE = 4.0
"""A stage that takes so many times its share is stopped: it hangs."""

OVERRUN = "stopped: the stage took several times its share"
INTERRUPTED = "stopped: the tests were interrupted"

UNAVAILABLE = 69
"""Exit status (EX_UNAVAILABLE of sysexits.h) of a command that cannot run here: its last line says what is missing."""

GRACE = 30.0
"""Seconds that a stopped command has to clean up after itself."""

Heartbeat = Callable[[float, str], None]


@dataclass(frozen=True)
class Failure:
    """A command that failed, why, and where in the log its output begins and ends."""

    command: Command
    reason: str
    begin: int
    end: int


@dataclass(frozen=True)
class Outcome:
    """How a stage ended.

    ``blocked_by``: stages that it needs and that did not pass, so that it did not run. ``unavailable``: what this
    machine lacks for it, directly or for a stage that it needs.
    """

    stage: Stage
    seconds: float = 0.0
    failures: tuple[Failure, ...] = ()
    blocked_by: tuple[str, ...] = ()
    unavailable: str = ""
    log: Path = field(default=Path(os.devnull))

    @property
    def passed(self) -> bool:
        return not self.failures and not self.blocked_by and not self.unavailable

    @property
    def failed(self) -> bool:
        """Neither passed nor left out because of this machine."""
        return not self.passed and not self.unavailable


def run_stage(
    stage: Stage,
    log: Path,
    folder: Path,
    environment: Mapping[str, str],
    beat: Heartbeat,
    stop: threading.Event,
    every: float = HEARTBEAT,
    patience: float = PATIENCE,
) -> Outcome:
    """Run all commands of ``stage`` in ``folder``, the later ones too when one fails; their output goes to ``log``.

    A command that cannot run on this machine ends the stage. Once ``stop`` is set, what runs is stopped and the rest
    does not begin.
    """
    began = time.monotonic()
    watch = _Watch(began, began + stage.share * patience, every, log, beat, stop)
    failures: list[Failure] = []
    with log.open("wb") as output:
        for command in stage.commands:
            _write(output, f"$ {shlex.join(command)}\n")
            begin = output.tell()
            reason = watch.over() or _run(command, output, folder, environment, watch)
            end = output.seek(0, os.SEEK_END)
            if reason == _status(UNAVAILABLE) and not failures:
                return Outcome(stage, time.monotonic() - began, unavailable=last_line(log), log=log)
            if reason:
                _write(output, f"{reason}\n")
                failures.append(Failure(command, reason, begin, end))
    return Outcome(stage, time.monotonic() - began, tuple(failures), log=log)


@dataclass(frozen=True)
class _Watch:
    began: float
    deadline: float
    every: float
    log: Path
    beat: Heartbeat
    stop: threading.Event

    def over(self) -> str:
        """Why nothing more is to run, '' while it is."""
        if self.stop.is_set():
            return INTERRUPTED
        return OVERRUN if time.monotonic() >= self.deadline else ""

    def tell(self) -> None:
        self.beat(time.monotonic() - self.began, last_line(self.log))


def _run(command: Command, output: IO[bytes], folder: Path, environment: Mapping[str, str], watch: _Watch) -> str:
    """Why the command failed, '' when it did not."""
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        return f"{command[0]} does not start: {error.strerror}"
    try:
        told = time.monotonic()
        while process.poll() is None and not watch.over():
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=LOOK)
            if time.monotonic() >= told + watch.every and process.poll() is None:
                told = time.monotonic()
                watch.tell()
        if process.poll() is None:
            return watch.over()
        return _status(process.returncode) if process.returncode else ""
    finally:
        _stop(process)


def _status(code: int) -> str:
    return f"exit status {code}"


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the command together with what it started in its session."""
    if process.poll() is not None:
        return
    _signal_session(process.pid, signal.SIGTERM)
    try:
        process.wait(timeout=GRACE)
    except subprocess.TimeoutExpired:
        _signal_session(process.pid, signal.SIGKILL)
        process.wait()


def _signal_session(session: int, number: signal.Signals) -> None:
    """Also processes in groups of their own; not daemons, which have sessions of their own."""
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if os.getsid(int(name)) == session:
                    os.kill(int(name), number)


def _write(output: IO[bytes], text: str) -> None:
    output.write(text.encode())
    output.flush()


def last_line(log: Path) -> str:
    """The last line of a growing log that says something."""
    lines = [line.strip() for line in tail_of(log).splitlines()]
    return next((line for line in reversed(lines) if line), "")


def tail_of(log: Path, octets: int = 4096) -> str:
    with log.open("rb") as text:
        size = text.seek(0, os.SEEK_END)
        text.seek(max(0, size - octets))
        return text.read().decode(errors="replace")
