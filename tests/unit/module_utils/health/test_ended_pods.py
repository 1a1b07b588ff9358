# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pod that ended during a transaction does not count as missing; a failed or vanished pod does."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.health import pod_checks, pod_sandboxes
from ansible_collections.volcano.colocation.plugins.module_utils.health.finding import Finding, Verdict
from ansible_collections.volcano.colocation.plugins.module_utils.transaction.context import TransactionContext
from ansible_collections.volcano.colocation.plugins.module_utils.transaction.steps import Step
from ansible_collections.volcano.colocation.tests.support.node.cri_server import Container, Sandbox
from ansible_collections.volcano.colocation.tests.support.node.simulation import (
    CONTAINERD,
    ENDPOINT,
    KUBELET,
    Simulation,
    document,
)
from ansible_collections.volcano.colocation.tests.support.node.transaction_runs import break_step, run_transaction

JOB = {"batch.kubernetes.io/job-name": "batch"}
BEFORE = {"default/etcd": 1, "default/proxy": 1, "default/work": 1}
STARTED = 5000.0
EXITED = 2


def add(simulation: Simulation, *, ready: bool = False, labels: Any = None, **container: Any) -> None:
    simulation.runtime.sandboxes.append(Sandbox("s-work", "work", ready=ready, labels=labels or {}))
    fields = {"state": EXITED, "finished": STARTED - 1, **container}
    simulation.runtime.containers.append(Container("c-work", "s-work", **fields))


def check(simulation: Simulation, before: dict[str, int] | None = None, started: float | None = STARTED) -> Finding:
    return pod_checks.pods_returned(simulation.node, ENDPOINT, before or BEFORE, (), started)


@pytest.mark.parametrize("label", sorted(pod_sandboxes.JOB_LABELS))
@pytest.mark.parametrize(("ready", "finished"), [(False, STARTED + 1), (True, STARTED + 1), (True, STARTED - 1)])
def test_a_job_may_end_at_any_time(simulation: Simulation, label: str, ready: bool, finished: float) -> None:
    add(simulation, ready=ready, labels={label: "x"}, finished=finished)
    assert check(simulation) == Finding(
        "pods returned", Verdict.PASSED, "2 pods; ended with exit code 0 in between: default/work"
    )


def test_another_pod_has_ended_if_kubelet_was_not_running(simulation: Simulation) -> None:
    add(simulation)
    assert check(simulation).verdict is Verdict.PASSED


@pytest.mark.parametrize(
    ("more", "started"),
    [
        ({"finished": STARTED + 1}, STARTED),
        ({"ready": True}, STARTED),
        ({}, None),
        ({"exit_code": 1}, STARTED),
        ({"exit_code": 137, "labels": JOB}, STARTED),
        ({"state": 3, "labels": JOB}, STARTED),
    ],
    ids=["ended by the new kubelet", "to be restarted", "no kubelet stopped", "failed", "failed job", "unknown"],
)
def test_any_other_stopped_pod_is_waited_for(simulation: Simulation, more: Any, started: float | None) -> None:
    add(simulation, **more)
    finding = check(simulation, started=started)
    assert (finding.verdict, "1 of 3 pods do not run as before: default/work" in finding.detail) == (
        Verdict.WAITING,
        True,
    )


def test_a_vanished_pod_is_missing(simulation: Simulation) -> None:
    assert check(simulation).verdict is Verdict.WAITING


def test_the_last_attempt_in_the_newest_sandbox_counts(simulation: Simulation) -> None:
    add(simulation, labels=JOB)
    simulation.runtime.containers.append(Container("c-again", "s-work", state=EXITED, exit_code=1, attempt=1))
    assert check(simulation).verdict is Verdict.WAITING
    simulation.runtime.sandboxes.append(Sandbox("s-anew", "work", ready=False, labels=JOB, created=(1 << 60) + 1))
    assert check(simulation).verdict is Verdict.WAITING
    simulation.runtime.containers.append(Container("c-anew", "s-anew", state=EXITED, attempt=0))
    assert check(simulation).verdict is Verdict.PASSED


def test_of_two_containers_one_may_be_done(simulation: Simulation) -> None:
    add(simulation, ready=True, labels=JOB)
    simulation.runtime.containers.append(Container("c-beside", "s-work", name="beside"))
    two = {**BEFORE, "default/work": 2}
    assert check(simulation, two).verdict is Verdict.PASSED
    assert check(simulation, {**two, "default/work": 3}).verdict is Verdict.WAITING
    simulation.runtime.containers[-1].state = EXITED
    simulation.runtime.containers[-1].exit_code = 2
    assert check(simulation, two).verdict is Verdict.WAITING


def with_work(simulation: Simulation, monkeypatch: pytest.MonkeyPatch, exit_code: int) -> None:
    """A pod that runs before the transaction, and ends before kubelet is stopped."""
    add(simulation, ready=True, state=1, pid=1)

    def ends(step: Step, context: TransactionContext) -> str:
        simulation.runtime.containers[-1].state = EXITED
        simulation.runtime.containers[-1].exit_code = exit_code
        return step.do(context)

    break_step(monkeypatch, "stop kubelet", ends)


def test_a_pod_that_ends_before_its_sandbox_is_removed_is_not_missing(
    simulation: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_work(simulation, monkeypatch, 0)
    result = run_transaction(simulation, document(simulation))
    assert (result["state"], result["error"]) == ("committed", None)
    (returned,) = [entry for entry in result["gate"] if entry["check"] == "pods returned"]
    assert returned["detail"] == "2 pods; ended with exit code 0 in between: default/work"


def test_an_ended_pod_is_not_missing_after_a_roll_back(simulation: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    with_work(simulation, monkeypatch, 0)
    plan = document(simulation)
    plan["gate"]["cpu_manager"]["policy"] = "another"
    result = run_transaction(simulation, plan)
    assert result["state"] == "rolled-back", result["error"]
    assert simulation.state() == {CONTAINERD: "active", KUBELET: "active"}


def test_a_failed_pod_is_missing(simulation: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    with_work(simulation, monkeypatch, 1)
    result = run_transaction(simulation, document(simulation))
    assert result["state"] == "rollback-failed"
    assert "1 of 3 pods do not run as before: default/work" in result["error"]["node"]
