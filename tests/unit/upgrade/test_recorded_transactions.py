# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Transactions of an older state with services and pods: put back, changed, undone, finished and undone at boot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.state import ledger
from ansible_collections.volcano.colocation.plugins.module_utils.state.journal import unfinished_journals
from ansible_collections.volcano.colocation.plugins.module_utils.transaction import recovery, runner
from ansible_collections.volcano.colocation.plugins.module_utils.transaction.recovery import RecoveryMode
from ansible_collections.volcano.colocation.tests.support.node.restore_plan import FRESH, way_back
from ansible_collections.volcano.colocation.tests.support.node.simulation import (
    CHECKPOINT,
    CONTAINERD,
    KUBELET,
    KUBELET_CONFIG,
    document,
)
from ansible_collections.volcano.colocation.tests.support.node.simulation_in_process import InProcess
from ansible_collections.volcano.colocation.tests.support.node.transaction_runs import carry_out
from ansible_collections.volcano.colocation.tests.support.recorded_states import STATES, node, recording

CUT_OFF = [(state, step) for state in STATES for step in recording(state, "transaction")["interrupted"]]
RUNNING = {CONTAINERD: "active", KUBELET: "active"}


def before(state: str, root: Path) -> dict[str, tuple[str, str]]:
    """The files that the node had before that state touched it."""
    return node(recording(state, "transaction")["before"], root.with_name("before")).tree()


def quiet(plan: dict[str, Any]) -> dict[str, Any]:
    """A plan that asks no kubelet for its health: nothing listens in a recording."""
    plan["gate"]["kubelet_healthz"] = None
    return plan


def without_checkpoint(tree: dict[str, tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """kubelet makes this one again at its start; what it makes is the simulation's."""
    return {path: entry for path, entry in tree.items() if path != CHECKPOINT}


def put_back(simulation: InProcess, name: str) -> None:
    answer = carry_out(simulation, quiet(way_back(simulation, name)))
    assert (answer["state"], answer["error"]) == ("committed", None)
    assert ledger.load(simulation.store).targets == {}


@pytest.fixture(params=CUT_OFF, ids=lambda each: each[1].replace(" ", "-"), name="cut_off")
def _cut_off(request: pytest.FixtureRequest) -> tuple[str, str]:
    found: tuple[str, str] = request.param
    return found


@pytest.fixture(name="interrupted")
def _interrupted(cut_off: tuple[str, str], root: Path) -> InProcess:
    return node(recording(cut_off[0], "transaction")["interrupted"][cut_off[1]], root)


def test_a_committed_one_is_read_and_put_back(state: str, root: Path) -> None:
    simulation = node(recording(state, "transaction")["committed"], root)
    assert unfinished_journals(simulation.store) == []
    assert KUBELET_CONFIG in {each.path for each in ledger.load(simulation.store).targets.values()}
    put_back(simulation, "t-2")
    assert without_checkpoint(simulation.tree()) == without_checkpoint(before(state, root))
    assert simulation.read(CHECKPOINT) == FRESH
    assert (simulation.state(), simulation.pods()) == (RUNNING, ["etcd", "proxy"])


def test_a_committed_one_is_changed_and_the_original_stays_the_first(state: str, root: Path) -> None:
    simulation = node(recording(state, "transaction")["committed"], root)
    change = quiet(document(simulation, "t-2", stale_cgroups=[], fresh_cgroups=[], validate=[]))
    change["files"] = [{**change["files"][0], "after": change["files"][0]["after"] + "podPidsLimit: 99\n"}]
    assert carry_out(simulation, change)["state"] == "committed"
    assert "podPidsLimit: 99" in simulation.read(KUBELET_CONFIG)
    put_back(simulation, "t-3")
    assert without_checkpoint(simulation.tree()) == without_checkpoint(before(state, root))


def test_one_that_was_cut_off_is_undone(cut_off: tuple[str, str], interrupted: InProcess, root: Path) -> None:
    found = runner.recover(interrupted.node, interrupted.store, lambda _line: None)
    assert interrupted.tree() == before(cut_off[0], root)
    assert (interrupted.state(), interrupted.pods()) == (RUNNING, ["etcd", "proxy"])
    assert unfinished_journals(interrupted.store) == []
    assert found is None or found["state"] == "rolled-back"


def test_one_that_was_cut_off_is_finished_or_undone(
    cut_off: tuple[str, str], interrupted: InProcess, root: Path
) -> None:
    found = recovery.recover(interrupted.node, interrupted.store, lambda _line: None, RecoveryMode.FINISH)
    assert unfinished_journals(interrupted.store) == []
    assert (interrupted.state(), interrupted.pods()) == (RUNNING, ["etcd", "proxy"])
    if found is not None and found["state"] == "committed":
        committed = node(recording(cut_off[0], "transaction")["committed"], root.with_name("committed"))
        assert interrupted.tree() == committed.tree()
        put_back(interrupted, "t-2")
    assert without_checkpoint(interrupted.tree()) == without_checkpoint(before(cut_off[0], root))


def test_some_are_finished_and_some_undone(state: str, root: Path) -> None:
    """Else one half of the test above would say nothing."""
    ends = set()
    for number, document_ in enumerate(recording(state, "transaction")["interrupted"].values()):
        simulation = node(document_, root.with_name(f"n{number}"))
        found = recovery.recover(simulation.node, simulation.store, lambda _line: None, RecoveryMode.FINISH)
        ends.add(found["state"] if found else "none")
    assert {"committed", "rolled-back"} <= ends


def test_one_that_was_cut_off_by_a_power_cut_is_undone_at_boot(
    cut_off: tuple[str, str], interrupted: InProcess, root: Path
) -> None:
    runner.recover_at_boot(interrupted.node, interrupted.store, lambda _line: None)
    assert unfinished_journals(interrupted.store) == []
    left, first = interrupted.tree(), before(cut_off[0], root)
    kept = {path: entry for path, entry in left.items() if not path.startswith("/sys")}
    assert kept == {path: entry for path, entry in first.items() if not path.startswith("/sys")}
