# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cost of settings on many pods, compared with a bare loop of the same writes."""

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
from .reaches import Target

BARE_LOOPS = 2.0


class QosError(Exception):
    """The settings could not be applied or measured; the message says why."""


class Stage(str, Enum):
    """A measured stage, by its name in the output of qos_settings.py."""

    BARE = "bare"
    READ = "read"
    RAW = "raw"
    WHOLE = "whole"
    AGAIN = "again"


@dataclass(frozen=True)
class QosCost:
    """CPU milliseconds and files written, by stage; each with the rounds in their order."""

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
        """The CPU time as a multiple of the bare loop of writes."""
        return ratios(self.cpu_ms[stage], self.cpu_ms[Stage.BARE])

    def in_bare_loops_that_read(self, stage: Stage) -> Spread:
        """The CPU time as a multiple of a bare loop that writes plus another that reads everything back."""
        both = [write + read for write, read in zip(self.cpu_ms[Stage.BARE], self.cpu_ms[Stage.READ], strict=True)]
        return ratios(self.cpu_ms[stage], both)


def qos_cost(environment: Mapping[str, str]) -> QosCost:
    """The QosCost that one new process measures."""
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
    """The QosCost of a process's output; QosError unless the bare loop and the raw backend wrote every file."""
    rounds = report["rounds"]
    cpu_ms = {stage: tuple(measured[stage.value]["cpu_ms"] for measured in rounds) for stage in Stage}
    files = {stage: tuple(measured[stage.value]["written"] for measured in rounds) for stage in Stage}
    expected = report["pods"] * report["settings"]
    if {*files[Stage.BARE], *files[Stage.RAW]} != {expected}:
        raise QosError(f"not the same writes: {expected} files must be written, but the stages wrote {files}")
    return QosCost(report["pods"], report["settings"], cpu_ms, files, place)


def qos_targets(cost: QosCost) -> tuple[Target, ...]:
    """Targets. Times are compared with the writes alone, although the raw backend reads everything back."""
    raw, again = cost.in_bare_loops(Stage.RAW), max(cost.written[Stage.AGAIN])
    return (
        Target(f"raw writes of {cost.what} in bare loops", str(raw), f"≤ {BARE_LOOPS:.2f}", raw.median <= BARE_LOOPS),
        Target(f"files that the second run of {cost.what} writes", f"{again}", "0", again == 0, counted=True),
    )
