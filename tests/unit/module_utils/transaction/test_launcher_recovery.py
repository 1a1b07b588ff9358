# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was cut off is settled in a unit of its own, by one at a time, and waited for."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Callable

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.cri.node_access import Node
from ansible_collections.volcano.colocation.plugins.module_utils.host import Host
from ansible_collections.volcano.colocation.plugins.module_utils.state import installed_engine
from ansible_collections.volcano.colocation.plugins.module_utils.state.node_lock import LockHeld, hold
from ansible_collections.volcano.colocation.plugins.module_utils.transaction import cli, launcher, recovery
from ansible_collections.volcano.colocation.plugins.module_utils.transaction.cli import CancelRequest
from ansible_collections.volcano.colocation.plugins.module_utils.transaction.recovery import RecoveryMode, Unfinished
from ansible_collections.volcano.colocation.plugins.module_utils.transaction.steps import START_KUBELET
from ansible_collections.volcano.colocation.tests.support.node.simulation import (
    KUBELET_CONFIG,
    Simulation,
    Unit,
    document,
)
from ansible_collections.volcano.colocation.tests.support.node.transaction_runs import (
    Crash,
    break_step,
    carry_out,
    crash,
)

UNIT = "volcano-colocation-t-1.service"
Answer = Callable[[str, str], "tuple[int, str, str]"]


def unit_of(simulation: Simulation) -> Answer:
    """What the transient unit does, done at once."""

    def launched(command: str, transaction: str) -> tuple[int, str, str]:
        assert cli._execute_command(simulation.node, [command, transaction], CancelRequest()) == 0
        return 0, "", ""

    return launched


def starts(simulation: Simulation) -> list[tuple[str, ...]]:
    return [argv for argv in simulation.commands if argv[0] == "systemd-run"]


@pytest.fixture(autouse=True)
def _at_once(simulation: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launcher, "Node", partial(Node, clock=simulation.clock))
    monkeypatch.setattr(launcher, "UNIT_POLL", 0.05)
    monkeypatch.setattr(launcher, "POLL", 0.01)


@pytest.mark.parametrize("way", [RecoveryMode.UNDO, RecoveryMode.FINISH])
def test_where_nothing_is_open_nothing_is_started(simulation: Simulation, way: RecoveryMode) -> None:
    assert launcher.recover(simulation.host, way, 1.0) is None
    assert starts(simulation) == []


def test_an_undo_runs_as_a_unit(cut_off: Simulation) -> None:
    cut_off.launch = unit_of(cut_off)
    answer = launcher.recover(cut_off.host, RecoveryMode.UNDO, 5.0)
    assert answer == cut_off.store.read("t-1", "result.json")
    assert answer is not None
    assert (answer["state"], answer["error"]["step"]) == ("rolled-back", "write files")
    (argv,) = starts(cut_off)
    assert (argv[2], argv[-2:]) == (UNIT, ("undo", "t-1"))
    assert {"--property=Restart=on-abnormal", "--property=RuntimeMaxSec=1980.0"} <= set(argv)
    assert "cpuManagerPolicy: none" in cut_off.read(KUBELET_CONFIG)
    assert launcher.recover(cut_off.host, RecoveryMode.UNDO, 5.0) is None


def test_a_finish_runs_as_a_unit(cut_off: Simulation) -> None:
    cut_off.launch = unit_of(cut_off)
    answer = launcher.recover(cut_off.host, RecoveryMode.FINISH, 5.0)
    assert answer is not None
    assert answer["state"] == "committed"
    assert [argv[-2:] for argv in starts(cut_off)] == [("finish", "t-1")]


def test_what_cannot_go_on_any_more_is_undone_as_a_unit(cut_off: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        break_step(patched, START_KUBELET, crash)
        with pytest.raises(Crash):
            recovery.finish(cut_off.node, cut_off.store, "t-1", lambda _line: None)
    cut_off.launch = unit_of(cut_off)
    answer = launcher.recover(cut_off.host, RecoveryMode.FINISH, 5.0)
    assert answer is not None
    assert answer["state"] == "rolled-back"
    assert [argv[-2:] for argv in starts(cut_off)] == [("undo", "t-1")]


def test_how_far_an_undo_is(cut_off: Simulation) -> None:
    """A controller that is told so goes on with ``wait``, also after its connection broke."""
    answer = launcher.recover(cut_off.host, RecoveryMode.UNDO, 0.0)
    assert answer is not None
    assert (answer["id"], answer["state"], answer["step"]) == ("t-1", "applying", "write files")
    assert answer["limit"] == 3 * 60 + 1800 + 900


def at_work(simulation: Simulation) -> None:
    simulation.units[UNIT] = Unit()


def test_an_undo_that_runs_already_is_waited_for(cut_off: Simulation) -> None:
    at_work(cut_off)
    with hold(cut_off.store.lock_path, recovery.holder("t-1")):
        answer = launcher.recover(cut_off.host, RecoveryMode.UNDO, 0.2)
    assert answer is not None
    assert answer["state"] == "applying"
    assert starts(cut_off) == []


def test_so_is_one_that_systemd_has_just_started(cut_off: Simulation) -> None:
    cut_off.units[UNIT] = Unit(active="activating", sub="auto-restart", pid=0)
    answer = launcher.recover(cut_off.host, RecoveryMode.UNDO, 0.2)
    assert answer is not None
    assert answer["state"] == "applying"
    assert starts(cut_off) == []


def test_and_when_it_dies_another_one_goes_on(cut_off: Simulation) -> None:
    at_work(cut_off)
    assert launcher.recover(cut_off.host, RecoveryMode.UNDO, 0.2) is not None
    del cut_off.units[UNIT]
    cut_off.launch = unit_of(cut_off)
    answer = launcher.recover(cut_off.host, RecoveryMode.UNDO, 5.0)
    assert answer is not None
    assert answer["state"] == "rolled-back"


@pytest.mark.parametrize("way", list(RecoveryMode))
@pytest.mark.parametrize("holder", ["transaction t-1 from control", "recovery of transaction t-11"])
def test_who_is_at_work_is_told(
    cut_off: Simulation, way: RecoveryMode, holder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine that carries it out, or somebody with another one."""
    monkeypatch.setattr(
        "ansible_collections.volcano.colocation.plugins.module_utils.transaction.runner.LOCK_TIMEOUT", 0.0
    )
    at_work(cut_off)
    tree = cut_off.tree()
    with hold(cut_off.store.lock_path, holder), pytest.raises(LockHeld, match=f"this node: {holder}, pid "):
        launcher.recover(cut_off.host, way, 0.2)
    assert starts(cut_off) == []
    assert cut_off.tree() == tree


def test_what_is_to_be_left_is_left(cut_off: Simulation) -> None:
    with pytest.raises(Unfinished, match="transaction t-1 was interrupted"):
        launcher.recover(cut_off.host, RecoveryMode.STOP, 1.0)
    assert starts(cut_off) == []


def test_without_systemd_it_is_undone_in_the_process(cut_off: Simulation) -> None:
    """The simulated services answer all the same."""
    cut_off.write("/proc/1/comm", "sh\n")
    assert launcher.recover(cut_off.host, RecoveryMode.UNDO, 1.0) == {"id": "t-1", "state": "rolled-back"}
    assert starts(cut_off) == []


@pytest.mark.parametrize("way", [RecoveryMode.UNDO, RecoveryMode.FINISH])
def test_an_engine_that_does_not_start_is_no_reason_to_leave_the_node_half_changed(
    cut_off: Simulation, way: RecoveryMode
) -> None:
    cut_off.launch = lambda _command, _transaction: (1, "", "Failed to start transient service unit: Access denied")
    if way is RecoveryMode.FINISH:
        with pytest.raises(launcher.NotStarted, match="Access denied"):
            launcher.recover(cut_off.host, way, 1.0)
    else:
        assert launcher.recover(cut_off.host, way, 1.0) == {"id": "t-1", "state": "rolled-back"}


def test_nor_is_a_disk_that_takes_no_engine(cut_off: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_host: Host) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(installed_engine, "install_engine", full)
    assert launcher.recover(cut_off.host, RecoveryMode.UNDO, 1.0) == {"id": "t-1", "state": "rolled-back"}


def test_the_unit_of_another_transaction_undoes_nothing(cut_off: Simulation) -> None:
    tree = cut_off.tree()
    assert recovery.undo(cut_off.node, cut_off.store, "t-0", lambda _line: None) is None
    assert cut_off.tree() == tree


def test_two_that_are_open_are_both_undone_before_anybody_is_told(
    simulation: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A version that did not undo first may have left them."""
    told: list[str] = []
    store = simulation.store
    with monkeypatch.context() as patched:
        break_step(patched, "write files", crash)
        with pytest.raises(Crash):
            carry_out(simulation, document(simulation))
    second = Path(store.path("t-2"))
    second.mkdir()
    for name in ("plan.json", "journal.json"):
        text = Path(store.path("t-1", name)).read_text()
        second.joinpath(name).write_text(text.replace('"t-1"', '"t-2"'))
        second.joinpath(name).chmod(0o600)
    second.joinpath("backups").mkdir()
    for each in Path(store.path("t-1", "backups")).iterdir():
        second.joinpath("backups", each.name).write_bytes(each.read_bytes())
        second.joinpath("backups", each.name).chmod(0o600)

    class Told(type(store)):  # type: ignore[misc]
        def finish(self, transaction: str, result: object) -> None:
            told.append(transaction)
            super().finish(transaction, result)

    assert recovery.undo(simulation.node, Told(simulation.host), "t-2", lambda _line: None) == {
        "id": "t-2",
        "state": "rolled-back",
    }
    assert told == ["t-1", "t-2"]
