# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""When the lines of tasks and batches of a play are due."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ansible_collections.volcano.colocation.plugins.plugin_utils.fleet.fleet_play import FleetPlay, PlayScope
from ansible_collections.volcano.colocation.plugins.plugin_utils.fleet.task_tally import Outcome, TaskTally


def limit(_name: str, hosts: Collection[str]) -> str:
    return f"--limit {','.join(hosts)}"


class Run:
    """A play with a clock that its tasks advance; records the lines that are due."""

    def __init__(self, **scope: Any) -> None:
        self.play = FleetPlay(PlayScope(uuid="p", hosts=4, limit=limit, **scope))
        self.now = 0.0
        self._number = 0

    def batch(self) -> list[str]:
        return [line.text for line in self.play.begin_batch(self.now)]

    def task(
        self, name: str, hosts: str, *, seconds: float = 0.0, outcome: Outcome = Outcome.OK, text: str = ""
    ) -> list[str]:
        """Run a task on hosts, with another uuid each time; the lines when it begins."""
        self._number += 1
        uuid = f"{name}-{self._number}"
        lines = [line.text for line in self.play.begin_task(uuid, name, TaskTally(name, self.now), self.now)]
        for host in hosts:
            self.play.task(uuid).start(host, self.now)
        self.now += seconds
        for host in hosts:
            if outcome is Outcome.FAILED or text:
                self.play.task(uuid).add_text(host, outcome, text or f"{host} is full")
            self.play.end_host(self.play.task(uuid), host, outcome, self.now)
        return lines

    def end(self) -> list[str]:
        return [line.text for line in self.play.end()]


def test_a_task_is_shown_when_the_next_one_begins() -> None:
    run = Run()
    assert run.batch() == []
    assert run.task("A", "abcd", seconds=2) == []
    assert run.task("B", "abcd", outcome=Outcome.SKIPPED) == ["A: 4 ok, 2 s"]
    assert run.task("C", "ab") == []
    assert run.end() == ["C: 2 ok"]


def test_without_a_lockstep_tasks_are_shown_at_the_end() -> None:
    run = Run(in_lockstep=False)
    run.batch()
    assert run.task("A", "ab") == run.task("B", "a") == run.task("A", "cd") == []
    assert run.end() == ["A: 4 ok", "B: 1 ok"]


def test_ok_tasks_can_be_hidden() -> None:
    run = Run(shows_ok=False)
    run.batch()
    run.task("A", "ab")
    assert run.task("B", "ab", outcome=Outcome.CHANGED) == []
    assert run.end() == ["B: 2 changed"]


def test_batches_that_change_hosts_are_shown_with_their_longest_steps() -> None:
    run = Run(has_batches=True, shows_batches=True)
    assert run.batch() == []
    run.task("Drain", "a", seconds=65)
    run.task("Apply", "a", seconds=20, outcome=Outcome.CHANGED)
    run.task("Look", "a", seconds=0.5)
    assert run.batch() == ["  1 of 4: a: changed, 1 min 26 s (Drain 1 min 5 s; Apply 20 s)"]
    run.task("Drain", "bcd", seconds=0.1)
    run.task("Apply", "bc", outcome=Outcome.CHANGED)
    run.task("Apply", "d", outcome=Outcome.FAILED)
    assert run.end() == [
        "  d failed: d is full",
        "  4 of 4: d: failed, 0 s",
        "  4 of 4: 2 hosts --limit b,c: changed, 0 s",
        "Drain: 4 ok, 1 min 5 s",
        "Apply: 1 failed, 3 changed, 20 s",
        "Look: 1 ok",
    ]


def test_messages_of_batches_wait_for_the_other_hosts() -> None:
    run = Run(has_batches=True, shows_batches=True)
    run.batch()
    run.task("Report", "a", text="done")
    assert run.batch() == ["  1 of 4: a: ok, 0 s"]
    run.task("Report", "b", text="done")
    assert run.end() == ["  2 of 4: b: ok, 0 s", "Report: 2 ok", "  2 hosts: done", "    --limit a,b"]


def test_batches_of_check_mode_are_counted_at_the_end() -> None:
    run = Run(has_batches=True)
    for host in "ab":
        assert run.batch() == []
        assert run.task("Apply", host, outcome=Outcome.CHANGED) == []
    assert run.end() == ["Apply: 2 changed"]


def test_running_tasks_are_listed() -> None:
    run = Run()
    run.task("A", "ab")
    list(run.play.begin_task("x", "B", TaskTally("B", run.now), run.now))
    run.play.task("x").start("c", run.now)
    assert list(run.play.running(run.now + 30)) == ["B: 0 hosts ended; running: c 30 s"]
    assert run.play.has_task("x")
    assert not run.play.has_task("y")
