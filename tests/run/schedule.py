# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which stage begins when: as many beside each other as the CPUs carry, in the order of the table."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from .execution import Outcome
from .stages import CPUS, Stage

Run = Callable[[Stage], Outcome]


def carry_out(stages: Sequence[Stage], run: Run, stop: threading.Event) -> list[Outcome]:
    """Every stage's outcome, in the order of ``stages``. Whatever ends the waiting sets ``stop``."""
    outcomes: dict[str, Outcome] = {}
    running: dict[Future[Outcome], Stage] = {}
    with ThreadPoolExecutor(CPUS) as pool:
        try:
            while len(outcomes) < len(stages):
                for stage in _next(stages, outcomes, tuple(running.values())):
                    blocked_by = _failed(stage, outcomes)
                    if blocked_by:
                        outcomes[stage.name] = Outcome(stage, blocked_by=blocked_by)
                    else:
                        running[pool.submit(run, stage)] = stage
                if running:
                    for done in wait(running, return_when=FIRST_COMPLETED).done:
                        outcomes[running.pop(done).name] = done.result()
        except BaseException:
            stop.set()
            raise
    return [outcomes[stage.name] for stage in stages]


def _next(stages: Sequence[Stage], outcomes: dict[str, Outcome], running: Sequence[Stage]) -> list[Stage]:
    """The stages that can begin now; none overtakes one that only waits for CPUs."""
    free = CPUS - sum(stage.cpus for stage in running)
    begun = {*outcomes, *(stage.name for stage in running)}
    named = {stage.name for stage in stages}
    chosen: list[Stage] = []
    for stage in stages:
        if stage.name in begun or not {name for name in stage.needs if name in named} <= outcomes.keys():
            continue
        if stage.cpus > free:
            break
        free -= stage.cpus
        chosen.append(stage)
    return chosen


def _failed(stage: Stage, outcomes: dict[str, Outcome]) -> tuple[str, ...]:
    return tuple(name for name in stage.needs if name in outcomes and not outcomes[name].passed)
