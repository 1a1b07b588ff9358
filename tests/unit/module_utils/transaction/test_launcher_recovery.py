# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""An interrupted transaction is recovered in a separate unit, one at a time, and waited for."""

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
    crash,
    run_transaction,
)

UNIT = "volcano-colocation-t-1.service"
Launched = Callable[[str, str], "tuple[int, str, str]"]


def unit_of(simulation: Simulation) -> Launched:
    """Run the command of the transient unit directly."""

    def launched(command: str, transaction: str) -> tuple[int, str, str]:
        assert cli._execute_command(simulation.node, [command, transaction], CancelRequest()) == 0
        return 0, "", ""

    return launched


def starts(simulation: Simulation) -> list[tuple[str, ...]]:
    return [argv for argv in simulation.commands if argv[0] == "systemd-run"]


@pytest.fixture(autouse=True)
def _without_delay(simulation: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launcher, "Node", partial(Node, clock=simulation.clock))
    monkeypatch.setattr(launcher, "UNIT_POLL", 0.05)
    monkeypatch.setattr(launcher, "POLL", 0.01)


@pytest.mark.parametrize("mode", [RecoveryMode.UNDO, RecoveryMode.FINISH])
def test_without_an_open_transaction_no_unit_starts(simulation: Simulation, mode: RecoveryMode) -> None:
    assert launcher.recover(simulation.host, mode, 1.0) is None
    assert starts(simulation) == []


def test_a_roll_back_runs_in_a_unit(cut_off: Simulation) -> None:
    cut_off.launch = unit_of(cut_off)
    result = launcher.recover(cut_off.host, RecoveryMode.UNDO, 5.0)
    assert result == cut_off.store.read("t-1", "result.json")
    assert result is not None
    assert (result["state"], result["error"]["step"]) == ("rolled-back", "write files")
    (argv,) = starts(cut_off)
    assert (argv[2], argv[-2:]) == (UNIT, ("undo", "t-1"))
    assert {"--property=Restart=on-abnormal", "--property=RuntimeMaxSec=1980.0"} <= set(argv)
    assert "cpuManagerPolicy: none" in cut_off.read(KUBELET_CONFIG)
    assert launcher.recover(cut_off.host, RecoveryMode.UNDO, 5.0) is None


def test_a_resumed_transaction_runs_in_a_unit(cut_off: Simulation) -> None:
    cut_off.launch = unit_of(cut_off)
    result = launcher.recover(cut_off.host, RecoveryMode.FINISH, 5.0)
    assert result is not None
    assert result["state"] == "committed"
    assert [argv[-2:] for argv in starts(cut_off)] == [("finish", "t-1")]


def test_a_transaction_that_cannot_be_resumed_is_rolled_back_in_a_unit(
    cut_off: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        break_step(patched, START_KUBELET, crash)
        with pytest.raises(Crash):
            recovery.finish(cut_off.node, cut_off.store, "t-1", lambda _line: None)
    cut_off.launch = unit_of(cut_off)
    result = launcher.recover(cut_off.host, RecoveryMode.FINISH, 5.0)
    assert result is not None
    assert result["state"] == "rolled-back"
    assert [argv[-2:] for argv in starts(cut_off)] == [("undo", "t-1")]


def test_the_progress_of_a_roll_back(cut_off: Simulation) -> None:
    """A controller that gets the progress continues with ``wait``, also after a lost connection."""
    result = launcher.recover(cut_off.host, RecoveryMode.UNDO, 0.0)
    assert result is not None
    assert (result["id"], result["state"], result["step"]) == ("t-1", "applying", "write files")
    assert result["limit"] == 3 * 60 + 1800 + 900


def running(simulation: Simulation) -> None:
    simulation.units[UNIT] = Unit()


def test_a_running_roll_back_is_waited_for(cut_off: Simulation) -> None:
    running(cut_off)
    with hold(cut_off.store.lock_path, recovery.holder("t-1")):
        result = launcher.recover(cut_off.host, RecoveryMode.UNDO, 0.2)
    assert result is not None
    assert result["state"] == "applying"
    assert starts(cut_off) == []


def test_a_roll_back_that_systemd_just_started_is_waited_for(cut_off: Simulation) -> None:
    cut_off.units[UNIT] = Unit(active="activating", sub="auto-restart", pid=0)
    result = launcher.recover(cut_off.host, RecoveryMode.UNDO, 0.2)
    assert result is not None
    assert result["state"] == "applying"
    assert starts(cut_off) == []


def test_a_dead_roll_back_is_continued_by_another_unit(cut_off: Simulation) -> None:
    running(cut_off)
    assert launcher.recover(cut_off.host, RecoveryMode.UNDO, 0.2) is not None
    del cut_off.units[UNIT]
    cut_off.launch = unit_of(cut_off)
    result = launcher.recover(cut_off.host, RecoveryMode.UNDO, 5.0)
    assert result is not None
    assert result["state"] == "rolled-back"


@pytest.mark.parametrize("mode", list(RecoveryMode))
@pytest.mark.parametrize("holder", ["transaction t-1 from control", "recovery of transaction t-11"])
def test_the_holder_of_the_lock_is_named(
    cut_off: Simulation, mode: RecoveryMode, holder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine of the transaction, or another process."""
    monkeypatch.setattr(
        "ansible_collections.volcano.colocation.plugins.module_utils.transaction.runner.LOCK_TIMEOUT", 0.0
    )
    running(cut_off)
    tree = cut_off.tree()
    with hold(cut_off.store.lock_path, holder), pytest.raises(LockHeld, match=f"this node: {holder}, pid "):
        launcher.recover(cut_off.host, mode, 0.2)
    assert starts(cut_off) == []
    assert cut_off.tree() == tree


def test_stop_changes_nothing(cut_off: Simulation) -> None:
    with pytest.raises(Unfinished, match="transaction t-1 was interrupted"):
        launcher.recover(cut_off.host, RecoveryMode.STOP, 1.0)
    assert starts(cut_off) == []


def test_without_systemd_the_process_itself_rolls_back(cut_off: Simulation) -> None:
    """The simulated services work anyway."""
    cut_off.write("/proc/1/comm", "sh\n")
    assert launcher.recover(cut_off.host, RecoveryMode.UNDO, 1.0) == {"id": "t-1", "state": "rolled-back"}
    assert starts(cut_off) == []


@pytest.mark.parametrize("mode", [RecoveryMode.UNDO, RecoveryMode.FINISH])
def test_without_an_engine_the_process_itself_rolls_back(cut_off: Simulation, mode: RecoveryMode) -> None:
    cut_off.launch = lambda _command, _transaction: (1, "", "Failed to start transient service unit: Access denied")
    if mode is RecoveryMode.FINISH:
        with pytest.raises(launcher.NotStarted, match="Access denied"):
            launcher.recover(cut_off.host, mode, 1.0)
    else:
        assert launcher.recover(cut_off.host, mode, 1.0) == {"id": "t-1", "state": "rolled-back"}


def test_on_a_full_disk_the_process_itself_rolls_back(cut_off: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_host: Host) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(installed_engine, "install_engine", full)
    assert launcher.recover(cut_off.host, RecoveryMode.UNDO, 1.0) == {"id": "t-1", "state": "rolled-back"}


def test_the_unit_of_another_transaction_changes_nothing(cut_off: Simulation) -> None:
    tree = cut_off.tree()
    assert recovery.undo(cut_off.node, cut_off.store, "t-0", lambda _line: None) is None
    assert cut_off.tree() == tree


def test_two_open_transactions_are_rolled_back_before_a_result_is_written(
    simulation: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A version that did not roll back first may have left them."""
    finished: list[str] = []
    store = simulation.store
    with monkeypatch.context() as patched:
        break_step(patched, "write files", crash)
        with pytest.raises(Crash):
            run_transaction(simulation, document(simulation))
    second = Path(store.path("t-2"))
    second.mkdir()
    for name in ("plan.json", "journal.json"):
        text = Path(store.path("t-1", name)).read_text()
        second.joinpath(name).write_text(text.replace('"t-1"', '"t-2"'))
        second.joinpath(name).chmod(0o600)
    second.joinpath("backups").mkdir()
    for backup in Path(store.path("t-1", "backups")).iterdir():
        second.joinpath("backups", backup.name).write_bytes(backup.read_bytes())
        second.joinpath("backups", backup.name).chmod(0o600)

    class Recorder(type(store)):  # type: ignore[misc]
        def finish(self, transaction: str, result: object) -> None:
            finished.append(transaction)
            super().finish(transaction, result)

    assert recovery.undo(simulation.node, Recorder(simulation.host), "t-2", lambda _line: None) == {
        "id": "t-2",
        "state": "rolled-back",
    }
    assert finished == ["t-1", "t-2"]
