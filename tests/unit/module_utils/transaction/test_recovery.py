# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recovery of an interrupted transaction: resumed, or left for an administrator."""

from __future__ import annotations

import os

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.transaction import cli, recovery
from ansible_collections.volcano.colocation.plugins.module_utils.transaction.cli import CancelRequest
from ansible_collections.volcano.colocation.plugins.module_utils.transaction.recovery import (
    NotResumable,
    RecoveryMode,
    Unfinished,
)
from ansible_collections.volcano.colocation.plugins.module_utils.transaction.steps import START_RUNTIME
from ansible_collections.volcano.colocation.tests.support.node.simulation import KUBELET, KUBELET_CONFIG, Simulation
from ansible_collections.volcano.colocation.tests.support.node.transaction_runs import Crash, break_step, crash


def silent(_line: str) -> None:
    return


def test_it_resumes_where_it_ended(cut_off: Simulation) -> None:
    cut_off.commands = []
    recovered = recovery.recover(cut_off.node, cut_off.store, silent, RecoveryMode.FINISH)
    assert recovered == {"id": "t-1", "state": "committed"}
    assert "cpuManagerPolicy: static" in cut_off.read(KUBELET_CONFIG)
    jobs = [argv[1] for argv in cut_off.commands if argv[0] == "systemctl" and argv[1] in ("start", "stop")]
    assert jobs == ["start", "start"]
    assert cut_off.store.read("t-1", "result.json")["state"] == "committed"
    assert recovery.recover(cut_off.node, cut_off.store, silent, RecoveryMode.FINISH) is None


def test_stop_changes_nothing(cut_off: Simulation) -> None:
    journal = cut_off.store.path("t-1", "journal.json")
    os.utime(journal, (-3 * 3600, -3 * 3600))
    tree = cut_off.tree()
    with pytest.raises(Unfinished) as raised:
        recovery.recover(cut_off.node, cut_off.store, silent, RecoveryMode.STOP)
    message = str(raised.value)
    assert "transaction t-1 was interrupted 3 hours ago in step 'write files' (applying)" in message
    assert "colocation_recover=undo" in message
    assert cut_off.tree() == tree
    assert recovery.recover(cut_off.node, cut_off.store, silent, RecoveryMode.UNDO) == {
        "id": "t-1",
        "state": "rolled-back",
    }
    assert recovery.recover(cut_off.node, cut_off.store, silent, RecoveryMode.STOP) is None


def test_a_kubelet_that_someone_else_started_prevents_resuming(cut_off: Simulation) -> None:
    cut_off.units[KUBELET].active = "active"
    tree = cut_off.tree()
    with pytest.raises(NotResumable, match=f"it stopped {KUBELET}, which someone else has started since"):
        recovery.recover(cut_off.node, cut_off.store, silent, RecoveryMode.FINISH)
    assert cut_off.tree() == tree


def test_it_resumes_once(cut_off: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        break_step(patched, START_RUNTIME, crash)
        with pytest.raises(Crash):
            recovery.finish(cut_off.node, cut_off.store, "t-1", silent)
    assert recovery.resumable_transaction(cut_off.node, cut_off.store) is None
    assert recovery.finish(cut_off.node, cut_off.store, "t-1", silent) == {"id": "t-1", "state": "rolled-back"}
    assert "cpuManagerPolicy: none" in cut_off.read(KUBELET_CONFIG)
    assert cut_off.store.read("t-1", "result.json")["state"] == "rolled-back"


def test_a_resumed_engine_can_be_cancelled(cut_off: Simulation) -> None:
    request = CancelRequest()
    request.record(15, None)
    assert cli._execute_command(cut_off.node, ["finish", "t-1"], request) == 0
    result = cut_off.store.read("t-1", "result.json")
    assert result["state"] == "rolled-back"
    assert "was asked to end" in result["error"]["message"]
    assert "cpuManagerPolicy: none" in cut_off.read(KUBELET_CONFIG)


def test_only_the_named_transaction_is_resumed(cut_off: Simulation) -> None:
    tree = cut_off.tree()
    assert recovery.finish(cut_off.node, cut_off.store, "t-0", silent) is None
    assert cut_off.tree() == tree
    assert recovery.resumable_transaction(cut_off.node, cut_off.store) == "t-1"


@pytest.mark.parametrize("text", [None, "{}"])
def test_a_missing_plan_cannot_be_resumed(cut_off: Simulation, text: str | None) -> None:
    cut_off.store.remove("t-1", "plan.json")
    if text is not None:
        cut_off.write("/var/lib/volcano-colocation/transactions/t-1/plan.json", text, 0o600)
    with pytest.raises(NotResumable, match="its plan no longer exists"):
        recovery.recover(cut_off.node, cut_off.store, silent, RecoveryMode.FINISH)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-5, "0 seconds"),
        (119, "119 seconds"),
        (120, "2 minutes"),
        (7200, "2 hours"),
        (90000, "25 hours"),
        (2 * 86400, "2 days"),
    ],
)
def test_durations_are_rendered(seconds: float, words: str) -> None:
    assert recovery.format_duration(seconds) == words
