# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stages run in parallel as far as CPUs and needs allow."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest

from ansible_collections.volcano.colocation.tests.run.execution import Failure, Outcome
from ansible_collections.volcano.colocation.tests.run.schedule import execute, expected, startable
from ansible_collections.volcano.colocation.tests.run.stages import Stage

TIMEOUT = 20.0
FAILURE = Failure(("x",), "exit status 1", 0, 0)


def stage(name: str, cpus: int = 1, needs: tuple[str, ...] = (), share: int = 1, burst: int = 0) -> Stage:
    return Stage(name, share, (), needs=needs, cpus=cpus, burst=burst or cpus)


class Recorder:
    """Runs stages; each of ``together`` waits until all of them run. Records which stages ran in parallel."""

    def __init__(self, together: Sequence[str] = (), failing: Sequence[str] = ()) -> None:
        self._barrier = threading.Barrier(max(1, len(together)))
        self._together = together
        self._failing = failing
        self._lock = threading.Lock()
        self._now: set[str] = set()
        self.began: list[str] = []
        self.beside: set[frozenset[str]] = set()

    def __call__(self, stage_to_run: Stage) -> Outcome:
        with self._lock:
            self._now.add(stage_to_run.name)
            self.began.append(stage_to_run.name)
            self.beside.add(frozenset(self._now))
        if stage_to_run.name in self._together:
            self._barrier.wait(TIMEOUT)
        with self._lock:
            self._now.remove(stage_to_run.name)
        return Outcome(stage_to_run, failures=(FAILURE,) if stage_to_run.name in self._failing else ())


def names(outcomes: Sequence[Outcome]) -> list[str]:
    return [outcome.stage.name for outcome in outcomes]


def test_two_that_keep_one_cpu_busy_run_beside_each_other() -> None:
    run = Recorder(together=("a", "b"))
    assert names(execute([stage("a"), stage("b")], run, threading.Event())) == ["a", "b"]


def test_one_that_keeps_all_cpus_busy_runs_alone() -> None:
    run = Recorder()
    execute([stage("a"), stage("all", 2), stage("b")], run, threading.Event())
    assert frozenset({"all"}) in run.beside
    assert not [group for group in run.beside if "all" in group and len(group) > 1]


def chosen(stages: Sequence[Stage], ended: Sequence[str] = (), running: Sequence[Stage] = ()) -> list[str]:
    return [stage_to_start.name for stage_to_start in startable(stages, ended, running)]


def test_the_longest_way_to_the_end_comes_first() -> None:
    short, build, long = stage("short", share=5), stage("build", share=2), stage("long", share=3)
    after = stage("after", needs=("build",), share=9)
    assert chosen([short, build, long, after]) == ["build", "short"]
    assert chosen([short, build, long, after], ["build"], [short]) == ["after"]


def test_one_that_does_not_fit_lets_the_next_one_go_first() -> None:
    running, large, small = stage("running"), stage("large", 2, share=9), stage("small")
    assert chosen([running, large, small], running=[running]) == ["small"]
    assert chosen([running, large, small], ["running"]) == ["large"]


def test_one_that_waits_for_another_does_not_keep_the_rest_waiting() -> None:
    build = stage("build")
    stages = [build, stage("node", needs=("build",), share=9), stage("small")]
    assert chosen(stages, running=[build]) == ["small"]


def seconds(one: Stage) -> float:
    return one.share


def test_the_expected_time_of_stages_beside_each_other_is_that_of_the_longest_way() -> None:
    assert expected([stage("a", share=10), stage("b", share=6), stage("c", share=3)], seconds) == 10


def test_the_expected_time_of_stages_that_follow_each_other() -> None:
    build = stage("build", share=4)
    assert expected([build, stage("b", needs=("build",), share=6), stage("c", 2, ("build",), share=3)], seconds) == 13


def test_a_stage_that_can_use_more_cpus_gets_those_that_are_free() -> None:
    """Five seconds in parallel with the other stage, then twice as fast."""
    assert expected([stage("build", share=20, burst=2), stage("b", share=5)], seconds) == 12.5


def test_one_that_needs_another_waits_for_it_and_others_go_on() -> None:
    run = Recorder(together=("a", "c"))
    execute([stage("a"), stage("b", needs=("a",)), stage("c")], run, threading.Event())
    assert run.began.index("b") > run.began.index("a")


def test_one_whose_need_failed_does_not_run() -> None:
    run = Recorder(failing=("a",))
    outcomes = execute([stage("a"), stage("b", needs=("a",)), stage("c")], run, threading.Event())
    assert sorted(run.began) == ["a", "c"]
    assert outcomes[1].blocked_by == ("a",)


@pytest.mark.parametrize(("missing", "blocked"), [("no Go", "needs a"), ("", "")])
def test_what_a_machine_cannot_run_is_not_a_failure_of_those_that_need_it(missing: str, blocked: str) -> None:
    def run(one: Stage) -> Outcome:
        return Outcome(one, unavailable=missing, failures=() if missing else (FAILURE,))

    _first, second = execute([stage("a"), stage("b", needs=("a",))], run, threading.Event())
    assert (second.blocked_by, second.unavailable, second.failed) == (("a",), blocked, not missing)


def test_a_need_that_was_not_asked_for_holds_nothing_up() -> None:
    assert [outcome.passed for outcome in execute([stage("b", needs=("a",))], Recorder(), threading.Event())] == [True]


def test_an_interruption_stops_what_runs() -> None:
    stop = threading.Event()
    stopped: list[bool] = []

    def run(running_stage: Stage) -> Outcome:
        if running_stage.name == "a":
            raise KeyboardInterrupt
        stopped.append(stop.wait(TIMEOUT))
        return Outcome(running_stage)

    with pytest.raises(KeyboardInterrupt):
        execute([stage("a"), stage("b")], run, stop)
    assert stopped == [True]
