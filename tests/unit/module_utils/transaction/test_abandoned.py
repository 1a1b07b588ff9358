# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans contain file contents: abandoned ones are deleted, and those of running engines are not."""

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
from ansible_collections.volcano.colocation.tests.support.node.transaction_runs import run_transaction

LONG = abandoned.ABANDONED_AFTER + 60


class Dated(FakeClock):
    """A clock without delays; its wall clock is that of the machine, like the times of files."""

    def wall(self) -> float:
        return time.time()


def silent(_line: str) -> None:
    return


@pytest.fixture
def node(simulation: Simulation) -> Simulation:
    simulation.node = Node(simulation.host, Dated())
    return simulation


def open_abandoned(node: Simulation, name: str, age: float) -> None:
    """The transaction of a launcher that was killed before it started an engine."""
    node.store.open(name, json.dumps(document(node, id=name)))
    set_age(node, name, age)


def set_age(node: Simulation, name: str, age: float) -> None:
    then = time.time() - age
    os.utime(node.store.path(name), (then, then))


def files_of(node: Simulation, name: str) -> list[str]:
    return sorted(os.listdir(node.store.path(name)))


def test_the_next_transaction_ends_an_abandoned_one(node: Simulation) -> None:
    open_abandoned(node, "t-0", LONG)
    assert SECRET in node.stored_text()
    done = run_transaction(node, document(node))
    assert done["state"] == "committed"
    assert "t-0 was abandoned: it never began" in done["printed"]
    assert files_of(node, "t-0") == ["backups", "result.json"]
    result = node.store.read("t-0", "result.json")
    assert (result["state"], result["error"]["node"]) == ("refused", "nothing was changed")


@pytest.mark.parametrize("recover", [runner.recover, runner.recover_at_boot])
def test_the_next_recovery_ends_an_abandoned_one(node: Simulation, recover: object) -> None:
    open_abandoned(node, "t-0", LONG)
    tree = node.tree()
    assert callable(recover)
    assert recover(node.node, node.store, silent) is None
    assert SECRET not in node.stored_text()
    assert node.tree() == tree


def test_a_starting_transaction_is_not_abandoned(node: Simulation) -> None:
    open_abandoned(node, "t-0", 5)
    runner.recover(node.node, node.store, silent)
    assert files_of(node, "t-0") == ["backups", "plan.json", "reserve"]
    assert run_transaction(node, document(node, id="t-0"))["state"] == "committed"


def test_an_engine_begins_its_own_transaction_of_any_age(node: Simulation) -> None:
    open_abandoned(node, "t-0", LONG)
    assert run_transaction(node, document(node, id="t-0"))["state"] == "committed"


def test_nothing_is_deleted_while_a_transaction_runs(node: Simulation) -> None:
    open_abandoned(node, "t-0", LONG)
    with hold(node.store.lock_path, "an engine"), pytest.raises(LockHeld):
        runner.recover(node.node, node.store, silent)
    assert "plan.json" in files_of(node, "t-0")


def test_a_late_engine_reports_the_result_and_does_not_begin(node: Simulation) -> None:
    open_abandoned(node, "t-0", LONG)
    runner.recover(node.node, node.store, silent)
    tree = node.tree()
    for result in (
        runner.execute(node.node, node.store, "t-0", silent),
        launcher.wait(node.host, "t-0", 0.0),
    ):
        assert (result["state"], result["step"]) == ("refused", "begin")
        assert "ended before the transaction began. Run this again" in result["error"]["message"]
    assert node.tree() == tree


def test_candidates_are_deleted_as_well(node: Simulation) -> None:
    open_abandoned(node, "t-0", LONG)
    candidates = node.store.path("t-0", "candidates")
    os.mkdir(candidates)
    for directory, name in ((candidates, "config.toml"), (node.store.path("t-0"), ".plan.json.volcano-colocation")):
        with open(os.path.join(directory, name), "w", encoding="utf-8") as stream:
            stream.write(SECRET)
    set_age(node, "t-0", LONG)
    runner.recover(node.node, node.store, silent)
    assert files_of(node, "t-0") == ["backups", "result.json"]


def test_a_plan_with_a_result_is_deleted_immediately(node: Simulation) -> None:
    """Its engine was killed between the result and the deletion."""
    result = run_transaction(node, document(node))
    node.write("/var/lib/volcano-colocation/transactions/t-1/plan.json", SECRET, 0o600)
    runner.recover(node.node, node.store, silent)
    assert files_of(node, "t-1") == ["backups", "journal.json", "result.json"]
    assert node.store.read("t-1", "result.json")["state"] == result["state"]


def test_an_ended_transaction_gets_the_result_of_its_journal(node: Simulation) -> None:
    """Power was cut between its end and its result."""
    run_transaction(node, document(node))
    node.store.remove("t-1", "result.json")
    node.write("/var/lib/volcano-colocation/transactions/t-1/plan.json", SECRET, 0o600)
    set_age(node, "t-1", LONG)
    runner.recover(node.node, node.store, silent)
    journal = Journal.load(node.store, "t-1")
    assert journal is not None
    assert node.store.read("t-1", "result.json") == journal.result()
    assert "plan.json" not in files_of(node, "t-1")


def test_an_unreadable_transaction_is_reported_and_skipped(node: Simulation) -> None:
    open_abandoned(node, "t-0", LONG)
    open_abandoned(node, "t-2", LONG)
    node.write("/var/lib/volcano-colocation/transactions/t-0/result.json", "[", 0o600)
    lines: list[str] = []
    runner.recover(node.node, node.store, lines.append)
    assert "t-0: /var/lib/volcano-colocation/transactions/t-0/result.json: it is damaged" in lines[0]
    assert "plan.json" not in files_of(node, "t-2")
