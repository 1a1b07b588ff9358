# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands that run tests. README, docs/contributing.md and the end of `make test` are written from this table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .schedule import expected
from .stages import LONG, MATRIX, STAGES, Stage

LIMIT_COLD, LIMIT_WARM = 60 * 60, 40 * 60
"""Seconds for `make test` on two cores: with every cache empty, and with programs and node images in the cache."""

HOURS = 2 * 60 * 60
"""Seconds from which a duration is printed in hours."""


@dataclass(frozen=True)
class Suite:
    """``name``: the target of make; ``runs``: a description. A suite without stages is a separate command."""

    name: str
    runs: str
    stages: tuple[Stage, ...] = ()
    seconds: int = 0

    @property
    def cold(self) -> float:
        """Seconds with every cache empty."""
        return expected(self.stages, cold) if self.stages else self.seconds

    @property
    def warm(self) -> float:
        """Seconds with programs and node images in the cache."""
        return expected(self.stages, warm) if self.stages else self.seconds


def cold(stage: Stage) -> float:
    return stage.share


def warm(stage: Stage) -> float:
    return stage.share if stage.warm is None else stage.warm


SUITES = (
    Suite("test", "every stage that continuous integration runs", STAGES),
    Suite("test-matrix", "further versions: older and newer releases of each program, kubelet 1.20", MATRIX),
    Suite("test-faults", "every row of the fault suite, on both cgroup versions", seconds=10800),
    Suite(
        "test-long", "tests that take hours: the fault suite, repeated scenarios, exhaustive unit tests, mutants", LONG
    ),
)


def find(name: str, suites: Sequence[Suite] = SUITES) -> Suite:
    return next(suite for suite in suites if suite.name == name)


def duration(suite: Suite) -> str:
    """The time of a suite on two cores, by the shares of its stages."""
    long, short = _spell(suite.cold), _spell(suite.warm)
    return long if long == short else f"{long}, {short} with filled caches"


def _spell(seconds: float) -> str:
    return f"{seconds / 3600:.0f} h" if seconds >= HOURS else f"{max(1, round(seconds / 60))} min"
