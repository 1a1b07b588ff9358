# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The last runs of `make test` and similar commands, with the time of each stage; all checkouts share them.

`python -m ansible_collections.volcano.colocation.tests.run.history` prints them as a table of Markdown.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from . import venvs
from .execution import Outcome
from .places import CHECKOUT

LIMIT = 40
"""Recorded runs; older ones are deleted."""

BUILDS = "programs"
"""The stage that takes seconds if its results are in the cache."""

COLD = 60.0
"""Seconds of ``BUILDS`` from which a run began without programs in the cache."""


@dataclass(frozen=True)
class Run:
    """One run. ``began``: 2026-01-31T09:05:00Z; ``seconds``: wall time; ``busy``: CPU seconds of the whole machine in
    that time; ``stages``: seconds by stage; ``failed``: stages that did not pass."""

    suite: str
    began: str
    commit: str
    seconds: float
    busy: float
    stages: dict[str, float]
    failed: tuple[str, ...] = ()

    @property
    def cold(self) -> bool:
        return self.stages.get(BUILDS, 0.0) >= COLD

    @property
    def title(self) -> str:
        """2026-01-31 09:05, 0123456789ab, caches empty"""
        caches = "caches empty" if self.cold else "caches filled"
        return f"{self.began[:16].replace('T', ' ')}, {self.commit}, {caches}"


def busy_seconds(statistics: Path = Path("/proc/stat")) -> float:
    """CPU seconds that this machine has used since it started, without idle time and without waiting for disks."""
    _cpu, user, nice, system, _idle, _wait, interrupts, soft_interrupts, *_stolen = (
        statistics.read_text().splitlines()[0].split()
    )
    ticks = sum(map(int, (user, nice, system, interrupts, soft_interrupts)))
    return ticks / os.sysconf("SC_CLK_TCK")


def save(suite: str, outcomes: Sequence[Outcome], seconds: float, busy: float) -> Path:
    """Write a run that has just ended; its file."""
    ran = [outcome for outcome in outcomes if not outcome.blocked_by and not outcome.unavailable]
    run = Run(
        suite=suite,
        began=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - seconds)),
        commit=_commit(),
        seconds=round(seconds, 1),
        busy=round(busy, 1),
        stages={outcome.stage.name: round(outcome.seconds, 1) for outcome in ran},
        failed=tuple(outcome.stage.name for outcome in ran if not outcome.passed),
    )
    directory = venvs.shared("runs")
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{run.began.replace(':', '')}-{os.getpid()}.json"
    partial = path.with_suffix(".part")
    partial.write_text(json.dumps(asdict(run), indent=2) + "\n")
    partial.rename(path)
    for old in _files()[:-LIMIT]:
        old.unlink(missing_ok=True)
    return path


def load(suite: str) -> list[Run]:
    """The runs of a suite, oldest first; files of another shape are skipped."""
    runs = []
    for path in _files():
        try:
            values = json.loads(path.read_text())
            run = Run(**{**values, "failed": tuple(values["failed"])})
        except (ValueError, TypeError, KeyError):
            continue
        if run.suite == suite:
            runs.append(run)
    return runs


def table(runs: Sequence[Run]) -> str:
    """Stages as rows and runs as columns, seconds; a failed stage has an exclamation mark."""
    names = list(dict.fromkeys(name for run in runs for name in run.stages))
    rows = [["stage", *(run.title for run in runs)], ["---"] * (len(runs) + 1)]
    rows += [[f"`{name}`", *(_cell(run, name) for run in runs)] for name in names]
    rows.append(["all", *(f"{run.seconds // 60:.0f} min {run.seconds % 60:.0f} s" for run in runs)])
    rows.append(["CPU time of the machine", *(f"{run.busy:.0f}" for run in runs)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cell(run: Run, name: str) -> str:
    mark = " !" if name in run.failed else ""
    return f"{run.stages[name]:.0f}{mark}" if name in run.stages else ""


def _files() -> list[Path]:
    return sorted(venvs.shared("runs").glob("*.json"))


def _commit() -> str:
    """The commit of the checkout, with a plus sign if files differ from it; empty without git."""
    described = ["git", "describe", "--always", "--abbrev=12", "--exclude=*", "--dirty=+"]
    try:
        done = subprocess.run(described, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip()


if __name__ == "__main__":
    print(table(load(sys.argv[1] if len(sys.argv) > 1 else "test")))
