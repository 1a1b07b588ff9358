# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Transactions of an older version with services and pods: restored, changed, rolled back, resumed, also at boot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.state import ledger
from ansible_collections.volcano.colocation.plugins.module_utils.state.journal import unfinished_journals
from ansible_collections.volcano.colocation.plugins.module_utils.transaction import recovery, runner
from ansible_collections.volcano.colocation.plugins.module_utils.transaction.recovery import RecoveryMode
from ansible_collections.volcano.colocation.tests.support.node.restore_plan import FRESH, make_restore_plan
from ansible_collections.volcano.colocation.tests.support.node.simulation import (
    CHECKPOINT,
    CONTAINERD,
    KUBELET,
    KUBELET_CONFIG,
    document,
)
from ansible_collections.volcano.colocation.tests.support.node.simulation_in_process import InProcess
from ansible_collections.volcano.colocation.tests.support.node.transaction_runs import run_transaction
from ansible_collections.volcano.colocation.tests.support.recorded_states import STATES, node, recording

CUT_OFF = [(state, step) for state in STATES for step in recording(state, "transaction")["interrupted"]]
RUNNING = {CONTAINERD: "active", KUBELET: "active"}


def before(state: str, root: Path) -> dict[str, tuple[str, str]]:
    """The files of the node before that version changed it."""
    return node(recording(state, "transaction")["before"], root.with_name("before")).tree()


def quiet(plan: dict[str, Any]) -> dict[str, Any]:
    """A plan without a check of healthz: no server listens in a recording."""
    plan["gate"]["kubelet_healthz"] = None
    return plan


def without_checkpoint(tree: dict[str, tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """Without the checkpoint that the simulated kubelet creates again when it starts."""
    return {path: entry for path, entry in tree.items() if path != CHECKPOINT}


def restore(simulation: InProcess, name: str) -> None:
    result = run_transaction(simulation, quiet(make_restore_plan(simulation, name)))
    assert (result["state"], result["error"]) == ("committed", None)
    assert ledger.load(simulation.store).targets == {}


@pytest.fixture(params=CUT_OFF, ids=lambda moment: moment[1].replace(" ", "-"), name="cut_off")
def _cut_off(request: pytest.FixtureRequest) -> tuple[str, str]:
    moment: tuple[str, str] = request.param
    return moment


@pytest.fixture(name="interrupted")
def _interrupted(cut_off: tuple[str, str], root: Path) -> InProcess:
    return node(recording(cut_off[0], "transaction")["interrupted"][cut_off[1]], root)


def test_a_committed_transaction_is_restored(state: str, root: Path) -> None:
    simulation = node(recording(state, "transaction")["committed"], root)
    assert unfinished_journals(simulation.store) == []
    assert KUBELET_CONFIG in {target.path for target in ledger.load(simulation.store).targets.values()}
    restore(simulation, "t-2")
    assert without_checkpoint(simulation.tree()) == without_checkpoint(before(state, root))
    assert simulation.read(CHECKPOINT) == FRESH
    assert (simulation.state(), simulation.pods()) == (RUNNING, ["etcd", "proxy"])


def test_a_committed_transaction_is_changed_and_the_original_stays(state: str, root: Path) -> None:
    simulation = node(recording(state, "transaction")["committed"], root)
    change = quiet(document(simulation, "t-2", stale_cgroups=[], fresh_cgroups=[], validate=[]))
    change["files"] = [{**change["files"][0], "after": change["files"][0]["after"] + "podPidsLimit: 99\n"}]
    assert run_transaction(simulation, change)["state"] == "committed"
    assert "podPidsLimit: 99" in simulation.read(KUBELET_CONFIG)
    restore(simulation, "t-3")
    assert without_checkpoint(simulation.tree()) == without_checkpoint(before(state, root))


def test_an_interrupted_transaction_is_rolled_back(
    cut_off: tuple[str, str], interrupted: InProcess, root: Path
) -> None:
    recovered = runner.recover(interrupted.node, interrupted.store, lambda _line: None)
    assert interrupted.tree() == before(cut_off[0], root)
    assert (interrupted.state(), interrupted.pods()) == (RUNNING, ["etcd", "proxy"])
    assert unfinished_journals(interrupted.store) == []
    assert recovered is None or recovered["state"] == "rolled-back"


def test_an_interrupted_transaction_is_resumed_or_rolled_back(
    cut_off: tuple[str, str], interrupted: InProcess, root: Path
) -> None:
    recovered = recovery.recover(interrupted.node, interrupted.store, lambda _line: None, RecoveryMode.FINISH)
    assert unfinished_journals(interrupted.store) == []
    assert (interrupted.state(), interrupted.pods()) == (RUNNING, ["etcd", "proxy"])
    if recovered is not None and recovered["state"] == "committed":
        committed = node(recording(cut_off[0], "transaction")["committed"], root.with_name("committed"))
        assert interrupted.tree() == committed.tree()
        restore(interrupted, "t-2")
    assert without_checkpoint(interrupted.tree()) == without_checkpoint(before(cut_off[0], root))


def test_some_are_resumed_and_some_rolled_back(state: str, root: Path) -> None:
    """Otherwise one half of the test above would never run."""
    ends = set()
    for number, document_ in enumerate(recording(state, "transaction")["interrupted"].values()):
        simulation = node(document_, root.with_name(f"n{number}"))
        recovered = recovery.recover(simulation.node, simulation.store, lambda _line: None, RecoveryMode.FINISH)
        ends.add(recovered["state"] if recovered else "none")
    assert {"committed", "rolled-back"} <= ends


def test_a_transaction_interrupted_by_a_power_cut_is_rolled_back_at_boot(
    cut_off: tuple[str, str], interrupted: InProcess, root: Path
) -> None:
    runner.recover_at_boot(interrupted.node, interrupted.store, lambda _line: None)
    assert unfinished_journals(interrupted.store) == []
    current, first = interrupted.tree(), before(cut_off[0], root)
    files = {path: entry for path, entry in current.items() if not path.startswith("/sys")}
    assert files == {path: entry for path, entry in first.items() if not path.startswith("/sys")}
