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
from ansible_collections.volcano.colocation.tests.support.node.transaction_runs import break_step, carry_out

PATH = "/etc/kubernetes/kubelet.conf"
TOKEN = "hunter2.token-of-kubelet"
CHECK = "node ready"


class Walking(FakeClock):
    """Its wall clock goes as well."""

    def wall(self) -> float:
        return 1_700_000_000.0 + self.now


class Cluster:
    """Knows of the node what its kubelet has told; a kubelet tells once, when it has started.

    ``patience``: seconds that an answer may take. Little where none will come; a busy machine needs some.
    """

    patience = https_get.TIMEOUT

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._pid = simulation.units[KUBELET].pid
        self.heartbeat = simulation.node.clock.wall() - 60
        self.asked = 0

    @property
    def new_settings(self) -> bool:
        return self._simulation.settings()["cgroupDriver"] == "systemd"

    def answer(self) -> Any:
        self.asked += 1
        unit = self._simulation.units[KUBELET]
        if unit.active == "active" and unit.pid != self._pid:
            self._pid, self.heartbeat = unit.pid, self._simulation.node.clock.wall()
        return self.say()

    def say(self) -> Any:
        return 200, node_document("True", stamp(self.heartbeat))


class Deaf(Cluster):
    """Does not hear of a kubelet with the new settings: what was Ready is Ready."""

    def answer(self) -> Any:
        return self.say() if self.new_settings else super().answer()


class Unready(Cluster):
    """Hears that it is not ready with the new settings."""

    def say(self) -> Any:
        status = "False" if self.new_settings else "True"
        return 200, node_document(status, stamp(self.heartbeat), reason="KubeletNotReady")


class Mute(Cluster):
    """Says nothing while the node has the new settings."""

    patience = 0.3

    def say(self) -> Any:
        return None if self.new_settings else super().say()


class Never(Cluster):
    """Has said it once."""

    patience = 0.3

    def say(self) -> Any:
        return super().say() if self.asked == 1 else None


@pytest.fixture(scope="module")
def authority(tmp_path_factory: Any) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def member(simulation: Simulation, authority: Authority, monkeypatch: pytest.MonkeyPatch) -> Iterator[Member]:
    def impatient(step: Step, context: TransactionContext) -> str:
        monkeypatch.setattr(https_get, "TIMEOUT", found.patience)
        return step.do(context)

    # Before that the answer has to come the first time.
    break_step(monkeypatch, steps.START_KUBELET, impatient)
    found = Member(simulation, authority)
    yield found
    found.server.close()


class Member:
    """The simulated node, its cluster and its plan."""

    def __init__(self, simulation: Simulation, authority: Authority) -> None:
        self.simulation = simulation
        simulation.node = replace(simulation.node, clock=Walking())
        self.authority = authority
        self.patience = Cluster.patience
        self.server = ApiServer(authority, Cluster(simulation).answer)
        user = embedded(authority) + f"    token: {TOKEN}\n"
        simulation.write(PATH, kubeadm_1_20(self.server.url, authority.data("ca.crt"), user), 0o600)

    def join(self, kind: type[Cluster]) -> None:
        self.patience = kind.patience
        self.server.answer = kind(self.simulation).answer

    def plan(self, transaction: str = "t-1") -> dict[str, Any]:
        found = document(self.simulation, transaction)
        found["gate"].update(node={"name": NODE, "kubeconfig": PATH}, timeout=14)
        return found

    def carry_out(self) -> dict[str, Any]:
        """The answer; nothing of the kubeconfig is in it, nor in what is kept or printed."""
        answer = carry_out(self.simulation, self.plan())
        everything = json.dumps(answer) + self.simulation.everything_kept()
        key, certificate = self.authority.data("kubelet.key"), self.authority.data("kubelet.crt")
        pem = self.authority.text("kubelet.key").splitlines()[1]
        for secret in (TOKEN, key[:40], certificate[:40], pem, f":{self.server.port}"):
            assert secret not in everything
        return answer

    def finding(self, answer: dict[str, Any]) -> tuple[str, str]:
        (found,) = [each for each in answer["gate"] if each["check"] == CHECK]
        return found["status"], found["detail"]


def test_a_node_that_the_cluster_has_again(member: Member) -> None:
    answer = member.carry_out()
    assert answer["state"] == "committed"
    status, detail = member.finding(answer)
    assert (status, detail.startswith(f"Node {NODE} is Ready, as of 2023-")) == ("passed", True)
    before = member.simulation.store.read("t-1", "journal.json")["before"]
    assert before["node"] == {"ready": True, "reason": ""}


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        (Deaf, "before kubelet's restart"),
        (Unready, f"Node {NODE} is not Ready: KubeletNotReady"),
        (Mute, f"the API server in {PATH} does not respond: no response within"),
    ],
)
def test_a_node_that_the_cluster_has_lost_is_put_back(member: Member, kind: type[Cluster], told: str) -> None:
    member.join(kind)
    tree = member.simulation.tree()
    answer = member.carry_out()
    assert (answer["state"], answer["step"]) == ("rolled-back", "undo: health gate")
    status, detail = member.finding(answer)
    assert (status, told in detail, told in answer["error"]["message"]) == ("failed", True, True)
    assert [each["check"] for each in answer["gate"] if each["status"] == "failed"] == [CHECK]
    assert {path for path, found in member.simulation.tree().items() if tree.get(path) != found} == set()


def test_a_cluster_that_does_not_come_back_says_nothing_against_the_node_that_is_put_back(member: Member) -> None:
    member.join(Never)
    tree = member.simulation.tree()
    answer = member.carry_out()
    assert answer["state"] == "rolled-back"
    assert f"not proven: {CHECK}: the API server in {PATH} does not respond" in answer["error"]["node"]
    assert {path for path, found in member.simulation.tree().items() if tree.get(path) != found} == set()


def unready_before(member: Member) -> str:
    member.server.answer = lambda: (200, node_document("False", stamp(0), reason="KubeletNotReady"))
    return f"Node {NODE} was not Ready before the change: KubeletNotReady"


def closed_before(member: Member) -> str:
    gone = ApiServer(member.authority, lambda: None)
    gone.close()
    member.simulation.write(PATH, kubeadm_1_20(gone.url, member.authority.data("ca.crt"), ""))
    return f"before the change, the API server in {PATH} does not respond: Connection refused"


def not_understood(member: Member) -> str:
    member.simulation.write(PATH, f"kind: Config\ntoken: !!str {TOKEN}\n")
    return f"before the change, kubelet's kubeconfig cannot be interpreted ({PATH}:2: a tag)"


@pytest.mark.parametrize("arrange", [unready_before, closed_before, not_understood])
def test_what_was_not_so_before_is_not_demanded_but_said(member: Member, arrange: Any) -> None:
    told = arrange(member)
    answer = member.carry_out()
    assert answer["state"] == "committed"
    assert member.finding(answer) == ("not proven", told)


def test_a_node_without_a_cluster_is_not_asked(simulation: Simulation) -> None:
    answer = carry_out(simulation, document(simulation))
    assert answer["state"] == "committed"
    assert CHECK not in [each["check"] for each in answer["gate"]]
    assert "node" not in simulation.store.read("t-1", "journal.json")["before"]


class Killed(BaseException):
    """The process ends."""


def killed(step: Step, context: TransactionContext) -> str:
    raise Killed


def cut_off(member: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the health gate; kubelet runs since then."""
    with monkeypatch.context() as patched:
        break_step(patched, steps.HEALTH_GATE, killed)
        with pytest.raises(Killed):
            carry_out(member.simulation, member.plan())
    member.simulation.units[KUBELET].started = member.simulation.node.clock.monotonic()


def finish(member: Member) -> dict[str, Any]:
    found = recovery.recover(member.simulation.node, member.simulation.store, lambda _line: None, RecoveryMode.FINISH)
    assert found is not None
    return found


def test_what_is_finished_later_goes_by_when_kubelet_was_started(
    member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_off(member, monkeypatch)
    assert finish(member)["state"] == "committed"


def test_what_is_finished_later_does_not_take_an_old_word_either(
    member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    member.join(Deaf)
    cut_off(member, monkeypatch)
    assert finish(member)["state"] == "rolled-back"


def test_what_only_the_cluster_can_say_is_left_to_prove_after_a_boot(
    member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_off(member, monkeypatch)
    simulation = member.simulation
    found = runner.recover_at_boot(simulation.node, simulation.store, lambda _line: None)
    assert found is not None
    assert found["to_prove"][-1] == f"Node {NODE} is Ready in the cluster"


def test_a_journal_from_before_there_was_this_check(member: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    cut_off(member, monkeypatch)
    store = member.simulation.store
    journal = store.read("t-1", "journal.json")
    del journal["before"]["node"]
    store.write("t-1", "journal.json", journal)
    assert finish(member)["state"] == "committed"
    answer = store.read("t-1", "result.json")
    assert member.finding(answer) == ("not proven", "it was not checked whether the Node was Ready before")
