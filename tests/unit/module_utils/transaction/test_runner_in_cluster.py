# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole transactions on a node that is a member of a cluster."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Iterator

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.kube_api import https_get
from ansible_collections.volcano.colocation.plugins.module_utils.transaction import recovery, runner, steps
from ansible_collections.volcano.colocation.plugins.module_utils.transaction.context import TransactionContext
from ansible_collections.volcano.colocation.plugins.module_utils.transaction.recovery import RecoveryMode
from ansible_collections.volcano.colocation.plugins.module_utils.transaction.steps import Step
from ansible_collections.volcano.colocation.tests.support.node.simulation import (
    KUBELET,
    FakeClock,
    Simulation,
    document,
)
from ansible_collections.volcano.colocation.tests.support.node.tls_api_server import (
    NODE,
    ApiServer,
    Authority,
    embedded,
    kubeadm_1_20,
    node_document,
    stamp,
)
from ansible_collections.volcano.colocation.tests.support.node.transaction_runs import break_step, run_transaction

PATH = "/etc/kubernetes/kubelet.conf"
TOKEN = "hunter2.token-of-kubelet"
CHECK = "node ready"


class Walking(FakeClock):
    """A clock whose wall time advances as well."""

    def wall(self) -> float:
        return 1_700_000_000.0 + self.now


class Cluster:
    """An API server whose Node has the status that kubelet reported once, after its start.

    ``timeout``: seconds to wait for a response. Short if none will come; a busy machine needs some time.
    """

    timeout = https_get.TIMEOUT

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._pid = simulation.units[KUBELET].pid
        self.heartbeat = simulation.node.clock.wall() - 60
        self.requests = 0

    @property
    def new_settings(self) -> bool:
        return self._simulation.settings()["cgroupDriver"] == "systemd"

    def handle(self) -> Any:
        self.requests += 1
        unit = self._simulation.units[KUBELET]
        if unit.active == "active" and unit.pid != self._pid:
            self._pid, self.heartbeat = unit.pid, self._simulation.node.clock.wall()
        return self.respond()

    def respond(self) -> Any:
        return 200, node_document("True", stamp(self.heartbeat))


class Deaf(Cluster):
    """Does not get the status of a kubelet with the new settings: the Node stays Ready."""

    def handle(self) -> Any:
        return self.respond() if self.new_settings else super().handle()


class Unready(Cluster):
    """Gets the status not ready with the new settings."""

    def respond(self) -> Any:
        status = "False" if self.new_settings else "True"
        return 200, node_document(status, stamp(self.heartbeat), reason="KubeletNotReady")


class Mute(Cluster):
    """Does not respond while the node has the new settings."""

    timeout = 0.3

    def respond(self) -> Any:
        return None if self.new_settings else super().respond()


class Never(Cluster):
    """Responds only to the first request."""

    timeout = 0.3

    def respond(self) -> Any:
        return super().respond() if self.requests == 1 else None


@pytest.fixture(scope="module")
def authority(tmp_path_factory: Any) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def member(simulation: Simulation, authority: Authority, monkeypatch: pytest.MonkeyPatch) -> Iterator[Member]:
    def impatient(step: Step, context: TransactionContext) -> str:
        monkeypatch.setattr(https_get, "TIMEOUT", joined.timeout)
        return step.do(context)

    # Before that, the first response must arrive.
    break_step(monkeypatch, steps.START_KUBELET, impatient)
    joined = Member(simulation, authority)
    yield joined
    joined.server.close()


class Member:
    """The simulated node, its cluster and its plan."""

    def __init__(self, simulation: Simulation, authority: Authority) -> None:
        self.simulation = simulation
        simulation.node = replace(simulation.node, clock=Walking())
        self.authority = authority
        self.timeout = Cluster.timeout
        self.server = ApiServer(authority, Cluster(simulation).handle)
        user = embedded(authority) + f"    token: {TOKEN}\n"
        simulation.write(PATH, kubeadm_1_20(self.server.url, authority.data("ca.crt"), user), 0o600)

    def join(self, kind: type[Cluster]) -> None:
        self.timeout = kind.timeout
        self.server.respond = kind(self.simulation).handle

    def plan(self, transaction: str = "t-1") -> dict[str, Any]:
        plan = document(self.simulation, transaction)
        plan["gate"].update(node={"name": NODE, "kubeconfig": PATH}, timeout=14)
        return plan

    def run_transaction(self) -> dict[str, Any]:
        """The result; no secret of the kubeconfig is in it, in stored files, or in the output."""
        result = run_transaction(self.simulation, self.plan())
        everything = json.dumps(result) + self.simulation.stored_text()
        key, certificate = self.authority.data("kubelet.key"), self.authority.data("kubelet.crt")
        pem = self.authority.text("kubelet.key").splitlines()[1]
        for secret in (TOKEN, key[:40], certificate[:40], pem, f":{self.server.port}"):
            assert secret not in everything
        return result

    def finding(self, result: dict[str, Any]) -> tuple[str, str]:
        (finding,) = [check for check in result["gate"] if check["check"] == CHECK]
        return finding["status"], finding["detail"]


def test_a_node_that_is_ready_again(member: Member) -> None:
    result = member.run_transaction()
    assert result["state"] == "committed"
    status, detail = member.finding(result)
    assert (status, detail.startswith(f"Node {NODE} is Ready, as of 2023-")) == ("passed", True)
    before = member.simulation.store.read("t-1", "journal.json")["before"]
    assert before["node"] == {"ready": True, "reason": ""}


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (Deaf, "before kubelet's restart"),
        (Unready, f"Node {NODE} is not Ready: KubeletNotReady"),
        (Mute, f"the API server in {PATH} does not respond: no response within"),
    ],
)
def test_a_node_that_does_not_become_ready_is_rolled_back(member: Member, kind: type[Cluster], reason: str) -> None:
    member.join(kind)
    tree = member.simulation.tree()
    result = member.run_transaction()
    assert (result["state"], result["step"]) == ("rolled-back", "undo: health gate")
    status, detail = member.finding(result)
    assert (status, reason in detail, reason in result["error"]["message"]) == ("failed", True, True)
    assert [check["check"] for check in result["gate"] if check["status"] == "failed"] == [CHECK]
    assert {path for path, file in member.simulation.tree().items() if tree.get(path) != file} == set()


def test_an_unavailable_api_server_does_not_fail_a_roll_back(member: Member) -> None:
    member.join(Never)
    tree = member.simulation.tree()
    result = member.run_transaction()
    assert result["state"] == "rolled-back"
    assert f"not proven: {CHECK}: the API server in {PATH} does not respond" in result["error"]["node"]
    assert {path for path, file in member.simulation.tree().items() if tree.get(path) != file} == set()


def unready_before(member: Member) -> str:
    member.server.respond = lambda: (200, node_document("False", stamp(0), reason="KubeletNotReady"))
    return f"Node {NODE} was not Ready before the change: KubeletNotReady"


def closed_before(member: Member) -> str:
    closed = ApiServer(member.authority, lambda: None)
    closed.close()
    member.simulation.write(PATH, kubeadm_1_20(closed.url, member.authority.data("ca.crt"), ""))
    return f"before the change, the API server in {PATH} does not respond: Connection refused"


def unsupported_kubeconfig(member: Member) -> str:
    member.simulation.write(PATH, f"kind: Config\ntoken: !!str {TOKEN}\n")
    return f"before the change, kubelet's kubeconfig cannot be interpreted ({PATH}:2: a tag)"


@pytest.mark.parametrize("arrange", [unready_before, closed_before, unsupported_kubeconfig])
def test_a_node_that_was_not_ready_before_is_not_required(member: Member, arrange: Any) -> None:
    reason = arrange(member)
    result = member.run_transaction()
    assert result["state"] == "committed"
    assert member.finding(result) == ("not proven", reason)


def test_a_node_without_a_cluster_has_no_such_check(simulation: Simulation) -> None:
    result = run_transaction(simulation, document(simulation))
    assert result["state"] == "committed"
    assert CHECK not in [check["check"] for check in result["gate"]]
    assert "node" not in simulation.store.read("t-1", "journal.json")["before"]


class Killed(BaseException):
    """The process ends."""


def killed(step: Step, context: TransactionContext) -> str:
    raise Killed


def cut_off(member: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupt before the health gate; kubelet keeps running."""
    with monkeypatch.context() as patched:
        break_step(patched, steps.HEALTH_GATE, killed)
        with pytest.raises(Killed):
            run_transaction(member.simulation, member.plan())
    member.simulation.units[KUBELET].started = member.simulation.node.clock.monotonic()


def finish(member: Member) -> dict[str, Any]:
    simulation = member.simulation
    ended = recovery.recover(simulation.node, simulation.store, lambda _line: None, RecoveryMode.FINISH)
    assert ended is not None
    return ended


def test_a_resumed_check_uses_the_start_time_of_kubelet(member: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    cut_off(member, monkeypatch)
    assert finish(member)["state"] == "committed"


def test_a_resumed_check_does_not_accept_an_old_status(member: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    member.join(Deaf)
    cut_off(member, monkeypatch)
    assert finish(member)["state"] == "rolled-back"


def test_after_a_boot_the_node_condition_remains_to_prove(member: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    cut_off(member, monkeypatch)
    simulation = member.simulation
    ended = runner.recover_at_boot(simulation.node, simulation.store, lambda _line: None)
    assert ended is not None
    assert ended["to_prove"][-1] == f"Node {NODE} is Ready in the cluster"


def test_a_journal_of_a_version_without_this_check(member: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    cut_off(member, monkeypatch)
    store = member.simulation.store
    journal = store.read("t-1", "journal.json")
    del journal["before"]["node"]
    store.write("t-1", "journal.json", journal)
    assert finish(member)["state"] == "committed"
    result = store.read("t-1", "result.json")
    assert member.finding(result) == ("not proven", "it was not checked whether the Node was Ready before")
