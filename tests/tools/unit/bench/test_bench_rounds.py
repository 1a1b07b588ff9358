# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The order of the rounds, and the runs that end them."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.bench import rounds
from ansible_collections.volcano.colocation.tests.bench.contestants import Contestant
from ansible_collections.volcano.colocation.tests.bench.node import BenchNode
from ansible_collections.volcano.colocation.tests.bench.rounds import (
    Run,
    RunFailed,
    Runner,
    all_runs,
    contestant_order,
    unchanging,
)

from .runs import provision, run, task


def test_every_contestant_runs_once_a_round_and_each_begins_in_turn() -> None:
    orders = [contestant_order(number) for number in (1, 2, 3)]
    assert all(sorted(contestant.value for contestant in order) == ["ping", "provision", "stock"] for order in orders)
    assert {order[0] for order in orders} == set(Contestant)


def test_an_aligned_node_stays_as_it_is() -> None:
    steady = provision(4.0)
    assert unchanging(steady, Contestant.PROVISION) is steady
    with pytest.raises(RunFailed, match="stock changed an aligned node: Configure kubelet"):
        unchanging(run(4.0, task(name="Configure kubelet", changed=True)), Contestant.STOCK)


@dataclass(frozen=True)
class Rehearsal(Runner):
    """Runs nothing, and records the runs that it is asked for."""

    labels: list[str] = field(default_factory=list)
    spoiler: str = ""

    def _run(self, contestant: Contestant, label: str, more: Sequence[str]) -> Run:
        self.labels.append(" ".join((label, *more)))
        return run(1.0, task(changed=label in ("provision-misaligned", "stock-first", self.spoiler)))


def rehearsal(spoiler: str = "") -> Rehearsal:
    return Rehearsal(BenchNode("node", {}), Path("inventory"), {}, print, spoiler=spoiler)


def test_the_change_comes_first_then_counting_then_the_rounds() -> None:
    runner = rehearsal()
    measured = all_runs(runner, 2)
    assert runner.labels == [
        "provision-misaligned -vvv",
        "stock-first",
        "ping-counted -vvv",
        "provision-counted -vvv",
        "stock-counted -vvv",
        *("provision-1", "stock-1", "ping-1"),
        *("stock-2", "ping-2", "provision-2"),
    ]
    assert [len(runs) for runs in measured.rounds.values()] == [2, 2, 2]


@pytest.mark.parametrize("spoiler", ["stock-counted", "provision-counted", "provision-2"])
def test_a_change_on_the_aligned_node_ends_the_benchmark(spoiler: str) -> None:
    with pytest.raises(RunFailed, match="changed an aligned node"):
        all_runs(rehearsal(spoiler), 2)


def test_a_run_that_fails_names_its_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    monkeypatch.setattr(rounds, "LOGS", logs)
    monkeypatch.setattr(rounds, "OUTPUT", tmp_path)
    (tmp_path / "ansible").write_text("#!/bin/sh\necho broken\nexit 4\n")
    (tmp_path / "ansible").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr(BenchNode, "warm", lambda node: None)
    with pytest.raises(RunFailed, match=re.escape(f"exit status 4; its output is in {logs / 'ping-1.log'}")):
        Runner(BenchNode("node", {}), tmp_path, dict(os.environ), print).timed(Contestant.PING, "ping-1")
    assert (logs / "ping-1.log").read_text() == "broken\n"
