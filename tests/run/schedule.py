# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The order of stages: of those that can run, the one on the longest path to the end starts first."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace

from .execution import Outcome
from .stages import CPUS, Stage

Run = Callable[[Stage], Outcome]
Seconds = Callable[[Stage], float]


def execute(stages: Sequence[Stage], run: Run, stop: threading.Event) -> list[Outcome]:
    """Every stage's outcome, in the order of ``stages``. Any exception sets ``stop``."""
    outcomes: dict[str, Outcome] = {}
    running: dict[Future[Outcome], Stage] = {}
    with ThreadPoolExecutor(len(stages) or 1) as pool:
        try:
            while len(outcomes) < len(stages):
                for stage in startable(stages, outcomes, tuple(running.values())):
                    if blocked := _blocked(stage, outcomes):
                        outcomes[stage.name] = blocked
                    else:
                        running[pool.submit(run, stage)] = stage
                if running:
                    for done in wait(running, return_when=FIRST_COMPLETED).done:
                        outcomes[running.pop(done).name] = done.result()
        except BaseException:
            stop.set()
            raise
    return [outcomes[stage.name] for stage in stages]


def startable(stages: Sequence[Stage], ended: Collection[str], running: Sequence[Stage]) -> list[Stage]:
    """The stages to start now. If a stage needs more CPUs than are free, a later one may start first."""
    free = CPUS - sum(stage.cpus for stage in running)
    started = {*ended, *(stage.name for stage in running)}
    known = {stage.name for stage in stages}
    chosen: list[Stage] = []
    for stage in sorted(stages, key=lambda stage: -way(stage, stages)):
        ready = all(name in ended for name in stage.needs if name in known)
        if stage.name not in started and ready and stage.cpus <= free:
            free -= stage.cpus
            chosen.append(stage)
    return chosen


def way(stage: Stage, stages: Sequence[Stage]) -> float:
    """Seconds from the start of a stage to the end of the last stage that needs it, directly or indirectly."""
    return stage.share + max((way(other, stages) for other in stages if stage.name in other.needs), default=0)


def expected(stages: Sequence[Stage], seconds: Seconds) -> float:
    """Seconds that all stages take on CPUS CPUs if each takes ``seconds`` with its reserved CPUs."""
    work: dict[str, float] = {}
    ended: set[str] = set()
    running: list[Stage] = []
    clock = 0.0
    while len(ended) < len(stages):
        for stage in startable(stages, ended, running):
            running.append(stage)
            work[stage.name] = seconds(stage) * stage.cpus
        speed = _speeds(running)
        step = min(work[stage.name] / speed[stage.name] for stage in running)
        clock += step
        for stage in running:
            work[stage.name] -= step * speed[stage.name]
        ended |= {stage.name for stage in running if work[stage.name] < 1e-6}
        running = [stage for stage in running if stage.name not in ended]
    return clock


def _speeds(running: Sequence[Stage]) -> dict[str, float]:
    """CPUs of each stage: the reserved ones, and as many free ones as it can use."""
    free = float(CPUS - sum(stage.cpus for stage in running))
    speeds: dict[str, float] = {}
    for stage in running:
        more = min(free, stage.burst - stage.cpus)
        free -= more
        speeds[stage.name] = stage.cpus + more
    return speeds


def _blocked(stage: Stage, outcomes: dict[str, Outcome]) -> Outcome | None:
    """The outcome of a stage that cannot run because a needed stage did not pass; None if it can run."""
    causes = [outcomes[name] for name in stage.needs if name in outcomes and not outcomes[name].passed]
    if not causes:
        return None
    blocked = Outcome(stage, blocked_by=tuple(cause.stage.name for cause in causes))
    if all(cause.unavailable for cause in causes):
        return replace(blocked, unavailable=f"needs {', '.join(blocked.blocked_by)}")
    return blocked
