# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan holds file contents: none lies on a node for ever, and none is taken from under an engine."""

from __future__ import annotations

import json
import os
import time

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.cri.node_access import Node
from ansible_collections.volcano.colocation.plugins.module_utils.state.journal import Journal
from ansible_collections.volcano.colocation.plugins.module_utils.state.node_lock import LockHeld, hold
from ansible_collections.volcano.colocation.plugins.module_utils.transaction import abandoned, launcher, runner
from ansible_collections.volcano.colocation.tests.support.node.simulation import SECRET, FakeClock, Simulation, document
from ansible_collections.volcano.colocation.tests.support.node.transaction_runs import carry_out

LONG = abandoned.ABANDONED_AFTER + 60


class Dated(FakeClock):
    """Nobody waits, and the date is the machine's own, which is that of its files."""

    def wall(self) -> float:
        return time.time()


def silent(_line: str) -> None:
    return


@pytest.fixture
def node(simulation: Simulation) -> Simulation:
    simulation.node = Node(simulation.host, Dated())
    return simulation


def lay_down(node: Simulation, name: str, age: float) -> None:
    """As a launcher leaves it that is killed before it starts an engine."""
    node.store.open(name, json.dumps(document(node, id=name)))
    set_age(node, name, age)


def set_age(node: Simulation, name: str, age: float) -> None:
    then = time.time() - age
    os.utime(node.store.path(name), (then, then))


def files_of(node: Simulation, name: str) -> list[str]:
    return sorted(os.listdir(node.store.path(name)))


def test_a_plan_that_nobody_took_up_goes_with_the_next_transaction(node: Simulation) -> None:
    lay_down(node, "t-0", LONG)
    assert SECRET in node.everything_kept()
    done = carry_out(node, document(node))
    assert done["state"] == "committed"
    assert "t-0 was abandoned: it never began" in done["printed"]
    assert files_of(node, "t-0") == ["backups", "result.json"]
    answer = node.store.read("t-0", "result.json")
    assert (answer["state"], answer["error"]["node"]) == ("refused", "nothing was changed")


@pytest.mark.parametrize("recover", [runner.recover, runner.recover_at_boot])
def test_it_goes_with_the_next_recovery(node: Simulation, recover: object) -> None:
    lay_down(node, "t-0", LONG)
    tree = node.tree()
    assert callable(recover)
    assert recover(node.node, node.store, silent) is None
    assert SECRET not in node.everything_kept()
    assert node.tree() == tree


def test_one_that_is_just_starting_is_left_alone(node: Simulation) -> None:
    lay_down(node, "t-0", 5)
    runner.recover(node.node, node.store, silent)
    assert files_of(node, "t-0") == ["backups", "plan.json", "reserve"]
    assert carry_out(node, document(node, id="t-0"))["state"] == "committed"


def test_an_engine_begins_its_own_however_long_it_lay_there(node: Simulation) -> None:
    lay_down(node, "t-0", LONG)
    assert carry_out(node, document(node, id="t-0"))["state"] == "committed"


def test_nothing_is_taken_from_a_node_at_work(node: Simulation) -> None:
    lay_down(node, "t-0", LONG)
    with hold(node.store.lock_path, "an engine"), pytest.raises(LockHeld):
        runner.recover(node.node, node.store, silent)
    assert "plan.json" in files_of(node, "t-0")


def test_whoever_comes_late_is_told_and_begins_nothing(node: Simulation) -> None:
    lay_down(node, "t-0", LONG)
    runner.recover(node.node, node.store, silent)
    tree = node.tree()
    for answer in (
        runner.execute(node.node, node.store, "t-0", silent),
        launcher.wait(node.host, "t-0", 0.0),
    ):
        assert (answer["state"], answer["step"]) == ("refused", "begin")
        assert "ended before the transaction began. Run this again" in answer["error"]["message"]
    assert node.tree() == tree


def test_what_was_being_validated_goes_as_well(node: Simulation) -> None:
    lay_down(node, "t-0", LONG)
    candidates = node.store.path("t-0", "candidates")
    os.mkdir(candidates)
    for directory, name in ((candidates, "config.toml"), (node.store.path("t-0"), ".plan.json.volcano-colocation")):
        with open(os.path.join(directory, name), "w", encoding="utf-8") as stream:
            stream.write(SECRET)
    set_age(node, "t-0", LONG)
    runner.recover(node.node, node.store, silent)
    assert files_of(node, "t-0") == ["backups", "result.json"]


def test_a_plan_behind_its_answer_goes_at_once(node: Simulation) -> None:
    """Its engine was killed between the two."""
    answer = carry_out(node, document(node))
    node.write("/var/lib/volcano-colocation/transactions/t-1/plan.json", SECRET, 0o600)
    runner.recover(node.node, node.store, silent)
    assert files_of(node, "t-1") == ["backups", "journal.json", "result.json"]
    assert node.store.read("t-1", "result.json")["state"] == answer["state"]


def test_one_that_had_ended_gets_the_answer_of_its_journal(node: Simulation) -> None:
    """The power was cut between its end and its answer."""
    carry_out(node, document(node))
    node.store.remove("t-1", "result.json")
    node.write("/var/lib/volcano-colocation/transactions/t-1/plan.json", SECRET, 0o600)
    set_age(node, "t-1", LONG)
    runner.recover(node.node, node.store, silent)
    journal = Journal.load(node.store, "t-1")
    assert journal is not None
    assert node.store.read("t-1", "result.json") == journal.result()
    assert "plan.json" not in files_of(node, "t-1")


def test_what_cannot_be_read_is_told_and_stops_nothing(node: Simulation) -> None:
    lay_down(node, "t-0", LONG)
    lay_down(node, "t-2", LONG)
    node.write("/var/lib/volcano-colocation/transactions/t-0/result.json", "[", 0o600)
    lines: list[str] = []
    runner.recover(node.node, node.store, lines.append)
    assert "t-0: /var/lib/volcano-colocation/transactions/t-0/result.json: it is damaged" in lines[0]
    assert "plan.json" not in files_of(node, "t-2")
