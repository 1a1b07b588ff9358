# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.state.store import STATE_DIRECTORY, Store
from ansible_collections.volcano.colocation.plugins.module_utils.transaction import runner, steps
from ansible_collections.volcano.colocation.plugins.module_utils.transaction.context import TransactionContext
from ansible_collections.volcano.colocation.plugins.module_utils.transaction.steps import Step
from ansible_collections.volcano.colocation.tests.support.node.simulation import (
    CHECKPOINT,
    CONTAINERD,
    KUBELET,
    KUBELET_CONFIG,
    RUNTIME_CONFIG,
    SECRET,
    Simulation,
    document,
)
from ansible_collections.volcano.colocation.tests.support.node.transaction_runs import break_step, run_transaction

STEP_NAMES = [step.name for step in steps.STEPS]
RUNNING = {CONTAINERD: "active", KUBELET: "active"}


class Crash(BaseException):
    """The process ends; none of its code runs any more."""


def test_a_misaligned_node_is_aligned(simulation: Simulation) -> None:
    plan = document(simulation)
    result = run_transaction(simulation, plan)

    assert (result["state"], result["error"], result["recovered"]) == ("committed", None, None)
    assert [step["name"] for step in result["steps"]] == STEP_NAMES
    assert {step["status"] for step in result["steps"]} == {"done"}
    assert {finding["status"] for finding in result["gate"]} == {"passed"}
    assert len(result["gate"]) == 8
    assert simulation.read(KUBELET_CONFIG) == plan["files"][0]["after"]
    tree = simulation.tree()
    assert tree[KUBELET_CONFIG][0] == "-rw-------"
    assert tree[RUNTIME_CONFIG][0] == "-rw-r-----"
    assert tree["/etc/containerd/extra/nri.toml"] == ("-rw-------", "nri = true\n")
    assert json.loads(tree[CHECKPOINT][1]) == {"policyName": "static"}
    assert "/sys/fs/cgroup/kubepods" not in tree
    assert not [path for path in tree if "volcano" in path]
    assert simulation.state() == RUNNING
    assert simulation.pods() == ["etcd", "proxy"]


def test_kubelet_stops_first_and_starts_last(simulation: Simulation) -> None:
    run_transaction(simulation, document(simulation))
    jobs = [argv[1:] for argv in simulation.commands if argv[0] == "systemctl" and argv[1] in ("start", "stop")]
    assert jobs == [("stop", KUBELET), ("stop", CONTAINERD), ("start", CONTAINERD), ("start", KUBELET)]


@pytest.mark.parametrize("name", STEP_NAMES)
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_failing_step_leaves_the_node_unchanged(
    simulation: Simulation, monkeypatch: pytest.MonkeyPatch, name: str, moment: str
) -> None:
    def fail(step: Step, context: TransactionContext) -> str:
        if moment == "after":
            step.do(context)
        raise OSError(5, "Input/output error", "/somewhere")

    tree = simulation.tree()
    break_step(monkeypatch, name, fail)
    result = run_transaction(simulation, document(simulation))

    assert (result["state"], result["error"]["step"]) == ("rolled-back", name)
    assert "Input/output error" in result["error"]["message"]
    assert "every file is as it was; kubelet.service is active; containerd.service is active" in result["error"]["node"]
    assert simulation.tree() == tree
    assert simulation.state() == RUNNING
    assert simulation.pods() == ["etcd", "proxy"]
    undone = [step["name"] for step in result["steps"] if step["name"].startswith("undo: ")]
    begun = STEP_NAMES[: STEP_NAMES.index(name) + 1]
    assert undone == ["undo: " + step for step in reversed(begun)] + ["undo: health gate"]


@pytest.mark.parametrize("name", STEP_NAMES)
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_crash_in_a_step_is_undone_by_the_next_start(
    simulation: Simulation, monkeypatch: pytest.MonkeyPatch, name: str, moment: str
) -> None:
    def crash(step: Step, context: TransactionContext) -> str:
        if moment == "after":
            step.do(context)
        raise Crash

    tree = simulation.tree()
    plan = document(simulation)
    with monkeypatch.context() as patched:
        break_step(patched, name, crash)
        with pytest.raises(Crash):
            run_transaction(simulation, plan)
    result = run_transaction(simulation, plan)

    assert (result["state"], result["error"]["step"]) == ("rolled-back", name)
    assert "ended before the transaction did" in result["error"]["message"]
    assert simulation.tree() == tree
    assert simulation.state() == RUNNING
    assert simulation.pods() == ["etcd", "proxy"]


def test_an_unfinished_transaction_is_undone_before_the_next_one(
    simulation: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(step: Step, context: TransactionContext) -> str:
        raise Crash

    first, second = document(simulation, "t-1"), document(simulation, "t-2")
    with monkeypatch.context() as patched:
        break_step(patched, "start kubelet", crash)
        with pytest.raises(Crash):
            run_transaction(simulation, first)
    assert simulation.state()[KUBELET] == "inactive"
    result = run_transaction(simulation, second)
    assert (result["state"], result["recovered"]) == ("committed", {"id": "t-1", "state": "rolled-back"})
    assert simulation.store.read("t-1", "result.json")["state"] == "rolled-back"
    assert run_transaction(simulation, document(simulation, "t-3"))["recovered"] is None


def test_a_plan_made_from_the_half_done_state_is_refused_after_the_roll_back(
    simulation: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(step: Step, context: TransactionContext) -> str:
        raise Crash

    tree = simulation.tree()
    with monkeypatch.context() as patched:
        break_step(patched, "start kubelet", crash)
        with pytest.raises(Crash):
            run_transaction(simulation, document(simulation, "t-1"))
    result = run_transaction(simulation, document(simulation, "t-2"))
    assert (result["state"], result["recovered"]["id"]) == ("refused", "t-1")
    assert "Run this again" in result["error"]["message"]
    assert "t-1 was rolled back" in result["error"]["node"]
    assert simulation.tree() == tree


def test_a_plan_that_depends_on_the_undone_changes_is_refused(
    simulation: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Observed on a node after a power cut: the files were already correct, so the plan edited none of them."""

    def crash(step: Step, context: TransactionContext) -> str:
        raise Crash

    tree = simulation.tree()
    with monkeypatch.context() as patched:
        break_step(patched, "start runtime", crash)
        with pytest.raises(Crash):
            run_transaction(simulation, document(simulation, "t-1"))
    result = run_transaction(simulation, document(simulation, "t-2", files=[], validate=[]))
    assert (result["state"], result["recovered"]) == ("refused", {"id": "t-1", "state": "rolled-back"})
    assert "t-1 was rolled back first" in result["error"]["message"]
    assert simulation.tree() == tree


def test_a_stop_request_takes_effect_between_steps(simulation: Simulation) -> None:
    tree = simulation.tree()
    asked = iter([False] * 6 + [True] * 100)

    def check_cancelled() -> None:
        if next(asked):
            raise runner.Cancelled("the transaction was asked to end", "Run this again")

    plan = document(simulation)
    simulation.store.open(plan["id"], json.dumps(plan))
    result = runner.execute(simulation.node, simulation.store, plan["id"], lambda line: None, check_cancelled)
    assert (result["state"], result["error"]["step"]) == ("rolled-back", "write files")
    assert "asked to end" in result["error"]["message"]
    assert simulation.tree() == tree
    assert simulation.pods() == ["etcd", "proxy"]


def test_a_roll_back_does_not_start_stopped_services(simulation: Simulation) -> None:
    for unit in (KUBELET, CONTAINERD):
        simulation._job("stop", unit)
    simulation.runtime.sandboxes = []
    simulation.runtime.containers = []
    os.rmdir(simulation.host.path("/sys/fs/cgroup/kubepods"))
    plan = document(simulation)
    plan["files"][0]["after"] += "refused: true\n"
    tree = simulation.tree()
    result = run_transaction(simulation, plan)
    assert (result["state"], result["error"]["step"]) == ("rolled-back", "start kubelet")
    assert simulation.tree() == tree
    assert simulation.state() == {CONTAINERD: "inactive", KUBELET: "inactive"}
    assert "kubelet.service is inactive" in result["error"]["node"]


def test_a_kubelet_that_refuses_its_configuration_is_explained(simulation: Simulation) -> None:
    tree = simulation.tree()
    plan = document(simulation)
    plan["files"][0]["after"] += "refused: true\n"
    result = run_transaction(simulation, plan)
    assert (result["state"], result["error"]["step"]) == ("rolled-back", "start kubelet")
    assert "The log of kubelet.service says: server.go:1] failed to load config" in result["error"]["message"]
    assert SECRET not in json.dumps(result)
    assert simulation.tree() == tree
    assert simulation.pods() == ["etcd", "proxy"]


def test_a_kubelet_that_dies_after_its_start_is_caught(simulation: Simulation) -> None:
    plan = document(simulation)
    plan["files"][0]["after"] += "dies: true\n"
    result = run_transaction(simulation, plan)
    assert (result["state"], result["error"]["step"]) == ("rolled-back", "health gate")
    assert "kubelet stays up: kubelet.service ended after its start" in result["error"]["message"]
    assert 'configured policy "static" differs' in result["error"]["message"]
    failed = [finding["check"] for finding in result["gate"] if finding["status"] == "failed"]
    assert "kubelet stays up" in failed


def test_a_runtime_that_refuses_its_configuration(simulation: Simulation) -> None:
    tree = simulation.tree()
    plan = document(simulation)
    plan["files"][1]["after"] += "# refused at start\n"
    result = run_transaction(simulation, plan)
    assert (result["state"], result["error"]["step"]) == ("rolled-back", "start runtime")
    assert simulation.tree() == tree
    assert simulation.state() == RUNNING
    assert simulation.pods() == ["etcd", "proxy"]


@pytest.mark.parametrize(("driver", "state"), [(0, "committed"), (1, "rolled-back"), (None, "committed")])
def test_a_runtime_with_one_driver_must_report_the_expected_one(
    simulation: Simulation, driver: int | None, state: str
) -> None:
    """CRI-O's RuntimeConfig: 0 is systemd, 1 cgroupfs; before 1.28 it does not report the driver."""
    plan = document(simulation)
    plan["gate"]["runtime_handlers"] = {}
    simulation.runtime.cgroup_driver = driver
    tree = simulation.tree()
    result = run_transaction(simulation, plan)
    assert result["state"] == state
    if state == "rolled-back":
        assert "cgroup driver of the runtime: running value: cgroupfs" in result["error"]["message"]
        assert simulation.tree() == tree


def test_a_gate_fails_at_its_timeout(simulation: Simulation) -> None:
    plan = document(simulation)
    plan["gate"]["cpu_manager"]["policy"] = "dynamic"
    began = simulation.clock.monotonic()
    result = run_transaction(simulation, plan)
    assert result["error"]["step"] == "health gate"
    assert "cpu_manager_state has static, not dynamic" in result["error"]["message"]
    assert 60 <= simulation.clock.monotonic() - began < 90


def test_a_node_that_is_worse_after_the_roll_back_is_not_called_rolled_back(simulation: Simulation) -> None:
    plan = document(simulation)
    plan["files"][0]["after"] += "refused: true\n"
    simulation.refused_jobs = {("start", KUBELET)}
    result = run_transaction(simulation, plan)
    assert result["state"] == "rollback-failed"
    assert "undo: stop kubelet: systemctl start kubelet.service failed" in result["error"]["node"]
    assert "every file is as it was; kubelet.service is inactive" in result["error"]["node"]
    retry = run_transaction(simulation, document(simulation, "t-2"))
    assert retry["recovered"] is None


def test_sandboxes_that_cannot_be_removed_are_named(simulation: Simulation) -> None:
    tree = simulation.tree()
    simulation.runtime.stubborn = {sandbox.id for sandbox in simulation.runtime.sandboxes}
    result = run_transaction(simulation, document(simulation))
    assert (result["state"], result["error"]["step"]) == ("rolled-back", "remove sandboxes")
    assert "2 pod sandboxes could not be removed within 300 s. default/proxy" in result["error"]["message"]
    assert simulation.tree() == tree


def test_nothing_of_the_plan_is_kept_or_printed(simulation: Simulation) -> None:
    result = run_transaction(simulation, document(simulation))
    assert SECRET not in json.dumps(result)
    assert SECRET not in simulation.stored_text()
    directory = Path(simulation.host.path(STATE_DIRECTORY))
    assert {path.stat().st_mode & 0o077 for path in directory.rglob("*")} == {0}
    assert sorted(path.name for path in (directory / "transactions" / "t-1").iterdir()) == [
        "backups",
        "journal.json",
        "result.json",
    ]


def test_a_plan_with_files_only_stops_nothing(simulation: Simulation) -> None:
    plan = document(simulation, services={}, checkpoints=[], sandboxes=None, gate=None, validate=[])
    plan.update(stale_cgroups=[], fresh_cgroups=[])
    result = run_transaction(simulation, plan)
    assert (result["state"], [step["name"] for step in result["steps"]]) == ("committed", ["write files"])
    assert simulation.commands == []


def test_a_journal_that_cannot_be_written_does_not_stop_the_roll_back(
    simulation: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk of the state directory fills up during the transaction: everything is restored anyway."""

    class Full(Store):
        full = False

        def write(self, transaction: str, name: str, document: Any) -> None:
            if self.full and name == "journal.json":
                raise OSError(28, "No space left on device")
            super().write(transaction, name, document)

    store = Full(simulation.host)

    def fill(step: Step, context: TransactionContext) -> str:
        store.full = True
        return step.do(context)

    tree = simulation.tree()
    break_step(monkeypatch, "write files", fill)
    result = run_transaction(simulation, document(simulation), store)
    assert result["state"] == "rolled-back"
    assert "No space left on device" in result["error"]["message"]
    assert simulation.tree() == tree
    assert simulation.pods() == ["etcd", "proxy"]


def test_a_crashed_transaction_is_undone_by_recovery_alone(
    simulation: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(step: Step, context: TransactionContext) -> str:
        raise Crash

    assert runner.recover(simulation.node, simulation.store, lambda line: None) is None
    tree = simulation.tree()
    with monkeypatch.context() as patched:
        break_step(patched, "start runtime", crash)
        with pytest.raises(Crash):
            run_transaction(simulation, document(simulation))
    assert runner.recover(simulation.node, simulation.store, lambda line: None) == {"id": "t-1", "state": "rolled-back"}
    assert simulation.tree() == tree
    assert runner.recover(simulation.node, simulation.store, lambda line: None) is None
