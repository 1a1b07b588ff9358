# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stages run beside each other as far as CPUs and needs allow."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest

from ansible_collections.volcano.colocation.tests.run.execution import Failure, Outcome
from ansible_collections.volcano.colocation.tests.run.schedule import carry_out
from ansible_collections.volcano.colocation.tests.run.stages import Stage

PATIENCE = 20.0
FAILURE = Failure(("x",), "exit status 1", 0, 0)


def stage(name: str, cpus: int = 1, needs: tuple[str, ...] = ()) -> Stage:
    return Stage(name, 1, (), needs=needs, cpus=cpus)


class Recorder:
    """Runs stages; each of ``together`` waits until all of them run. Notes which ran beside which."""

    def __init__(self, together: Sequence[str] = (), failing: Sequence[str] = ()) -> None:
        self._barrier = threading.Barrier(max(1, len(together)))
        self._together = together
        self._failing = failing
        self._lock = threading.Lock()
        self._now: set[str] = set()
        self.began: list[str] = []
        self.beside: set[frozenset[str]] = set()

    def __call__(self, given: Stage) -> Outcome:
        with self._lock:
            self._now.add(given.name)
            self.began.append(given.name)
            self.beside.add(frozenset(self._now))
        if given.name in self._together:
            self._barrier.wait(PATIENCE)
        with self._lock:
            self._now.remove(given.name)
        return Outcome(given, failures=(FAILURE,) if given.name in self._failing else ())


def names(outcomes: Sequence[Outcome]) -> list[str]:
    return [outcome.stage.name for outcome in outcomes]


def test_two_that_keep_one_cpu_busy_run_beside_each_other() -> None:
    run = Recorder(together=("a", "b"))
    assert names(carry_out([stage("a"), stage("b")], run, threading.Event())) == ["a", "b"]


def test_one_that_keeps_all_cpus_busy_runs_alone() -> None:
    run = Recorder()
    carry_out([stage("a"), stage("all", 2), stage("b")], run, threading.Event())
    assert frozenset({"all"}) in run.beside
    assert not [group for group in run.beside if "all" in group and len(group) > 1]


def test_nothing_overtakes_one_that_waits_for_cpus() -> None:
    run = Recorder()
    carry_out([stage("a"), stage("all", 2), stage("b")], run, threading.Event())
    assert run.began == ["a", "all", "b"]


def test_one_that_needs_another_waits_for_it_and_others_go_on() -> None:
    run = Recorder(together=("a", "c"))
    carry_out([stage("a"), stage("b", needs=("a",)), stage("c")], run, threading.Event())
    assert run.began.index("b") > run.began.index("a")


def test_one_whose_need_failed_does_not_run() -> None:
    run = Recorder(failing=("a",))
    outcomes = carry_out([stage("a"), stage("b", needs=("a",)), stage("c")], run, threading.Event())
    assert sorted(run.began) == ["a", "c"]
    assert outcomes[1].blocked_by == ("a",)


def test_a_need_that_was_not_asked_for_holds_nothing_up() -> None:
    assert [each.passed for each in carry_out([stage("b", needs=("a",))], Recorder(), threading.Event())] == [True]


def test_an_interruption_stops_what_runs() -> None:
    stop = threading.Event()
    seen: list[bool] = []

    def run(given: Stage) -> Outcome:
        if given.name == "a":
            raise KeyboardInterrupt
        seen.append(stop.wait(PATIENCE))
        return Outcome(given)

    with pytest.raises(KeyboardInterrupt):
        carry_out([stage("a"), stage("b")], run, stop)
    assert seen == [True]
