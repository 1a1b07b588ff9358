# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the commands of a stage with a log, reports progress regularly, and stops a stage that takes too long."""

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

POLL_INTERVAL = 0.1
"""Seconds between two checks whether the command has ended."""

OVERRUN_FACTOR = 4.0
"""A stage that takes this multiple of its share hangs, and is stopped."""

OVERRUN = "stopped: the stage took several times its share"
INTERRUPTED = "stopped: the tests were interrupted"

UNAVAILABLE = 69
"""Exit status (EX_UNAVAILABLE of sysexits.h) of a command that this machine cannot run; its last line says why."""

GRACE = 30.0
"""Seconds that a stopped command has for cleanup."""

Heartbeat = Callable[[float, str], None]


@dataclass(frozen=True)
class Failure:
    """A failed command, the reason, and the begin and end of its output in the log (bytes)."""

    command: Command
    reason: str
    begin: int
    end: int


@dataclass(frozen=True)
class Outcome:
    """The result of a stage.

    ``blocked_by``: needed stages that did not pass, so that it did not run. ``unavailable``: what this machine lacks
    for the stage itself or for a stage that it needs.
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
        """Whether the stage did not pass although this machine can run it."""
        return not self.passed and not self.unavailable


def run_stage(
    stage: Stage,
    log: Path,
    directory: Path,
    environment: Mapping[str, str],
    beat: Heartbeat,
    stop: threading.Event,
    every: float = HEARTBEAT,
    overrun_factor: float = OVERRUN_FACTOR,
) -> Outcome:
    """Run all commands of ``stage`` in ``directory``, even after a failure; their output goes to ``log``.

    A command that cannot run on this machine ends the stage. Once ``stop`` is set, the running command is stopped and
    the others do not start.
    """
    began = time.monotonic()
    watch = _Watch(began, began + stage.share * overrun_factor, every, log, beat, stop)
    failures: list[Failure] = []
    with log.open("wb") as output:
        for command in stage.commands:
            _write(output, f"$ {shlex.join(command)}\n")
            begin = output.tell()
            reason = watch.over() or _run(command, output, directory, environment, watch)
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
        """The reason to stop, or '' while the stage may continue."""
        if self.stop.is_set():
            return INTERRUPTED
        return OVERRUN if time.monotonic() >= self.deadline else ""

    def report_progress(self) -> None:
        self.beat(time.monotonic() - self.began, last_line(self.log))


def _run(command: Command, output: IO[bytes], directory: Path, environment: Mapping[str, str], watch: _Watch) -> str:
    """The reason why the command failed, or ''."""
    try:
        process = subprocess.Popen(
            command,
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        return f"{command[0]} does not start: {error.strerror}"
    try:
        last_beat = time.monotonic()
        while process.poll() is None and not watch.over():
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=POLL_INTERVAL)
            if time.monotonic() >= last_beat + watch.every and process.poll() is None:
                last_beat = time.monotonic()
                watch.report_progress()
        if process.poll() is None:
            return watch.over()
        return _status(process.returncode) if process.returncode else ""
    finally:
        _stop(process)


def _status(code: int) -> str:
    return f"exit status {code}"


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the command and all processes of its session."""
    if process.poll() is not None:
        return
    _signal_session(process.pid, signal.SIGTERM)
    try:
        process.wait(timeout=GRACE)
    except subprocess.TimeoutExpired:
        _signal_session(process.pid, signal.SIGKILL)
        process.wait()


def _signal_session(session: int, number: signal.Signals) -> None:
    """Signal all processes of a session, in any process group; daemons have another session."""
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if os.getsid(int(name)) == session:
                    os.kill(int(name), number)


def _write(output: IO[bytes], text: str) -> None:
    output.write(text.encode())
    output.flush()


def last_line(log: Path) -> str:
    """The last line of a growing log that is not empty."""
    lines = [line.strip() for line in tail_of(log).splitlines()]
    return next((line for line in reversed(lines) if line), "")


def tail_of(log: Path, octets: int = 4096) -> str:
    with log.open("rb") as text:
        size = text.seek(0, os.SEEK_END)
        text.seek(max(0, size - octets))
        return text.read().decode(errors="replace")
