# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What settings on many pods cost, beside a bare loop of the same writes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ..run.places import DEV
from .figures import Spread, ratios, spread
from .places import BENCH
from .reaches import Reach

BARE_LOOPS = 2.0


class QosError(Exception):
    """The settings could not be made; the message says why."""


class Stage(str, Enum):
    """What is measured, by the name that qos_settings.py gives it."""

    BARE = "bare"
    READ = "read"
    RAW = "raw"
    WHOLE = "whole"
    AGAIN = "again"


@dataclass(frozen=True)
class QosCost:
    """CPU milliseconds and files written, by stage and in each the rounds in their order."""

    pods: int
    settings: int
    cpu_ms: Mapping[Stage, Sequence[float]]
    written: Mapping[Stage, Sequence[int]]
    place: str = "in files"

    @property
    def what(self) -> str:
        return f"{self.pods} pods × {self.settings} settings {self.place}"

    def spread(self, stage: Stage) -> Spread:
        return spread(self.cpu_ms[stage])

    def in_bare_loops(self, stage: Stage) -> Spread:
        """As a multiple of the bare loop of writes."""
        return ratios(self.cpu_ms[stage], self.cpu_ms[Stage.BARE])

    def in_bare_loops_that_read(self, stage: Stage) -> Spread:
        """As a multiple of a bare loop that writes and another that reads all of it back."""
        both = [write + read for write, read in zip(self.cpu_ms[Stage.BARE], self.cpu_ms[Stage.READ], strict=True)]
        return ratios(self.cpu_ms[stage], both)


def qos_cost(environment: Mapping[str, str]) -> QosCost:
    """What one process measures."""
    done = subprocess.run(
        [sys.executable, "-P", str(BENCH / "qos_settings.py")],
        env={**environment, "PYTHONPATH": str(DEV)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise QosError(f"settings on pods failed: {done.stderr.strip().splitlines()[-1:]}")
    return combined(json.loads(done.stdout))


def combined(report: Mapping[str, Any], place: str = QosCost.place) -> QosCost:
    """The QosCost of what the process printed; QosError unless each stage but the last wrote what it had to."""
    rounds = report["rounds"]
    cpu_ms = {stage: tuple(each[stage.value]["cpu_ms"] for each in rounds) for stage in Stage}
    files = {stage: tuple(each[stage.value]["written"] for each in rounds) for stage in Stage}
    wanted = report["pods"] * report["settings"]
    if {*files[Stage.BARE], *files[Stage.RAW]} != {wanted}:
        raise QosError(f"not the same writes: {wanted} files are to be written, and were {files}")
    return QosCost(report["pods"], report["settings"], cpu_ms, files, place)


def qos_reaches(cost: QosCost) -> tuple[Reach, ...]:
    """Times are compared with the writes alone, although the raw backend reads everything back."""
    raw, again = cost.in_bare_loops(Stage.RAW), max(cost.written[Stage.AGAIN])
    return (
        Reach(f"raw writes of {cost.what} in bare loops", str(raw), f"≤ {BARE_LOOPS:.2f}", raw.median <= BARE_LOOPS),
        Reach(f"files that the second run of {cost.what} writes", f"{again}", "0", again == 0, counted=True),
    )
