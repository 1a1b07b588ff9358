# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet's health endpoint in the gate: demanded where it answered before, or kubelet did not run as it should."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Iterator

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.health import pod_checks
from ansible_collections.volcano.colocation.plugins.module_utils.health.finding import Finding, Verdict
from ansible_collections.volcano.colocation.plugins.module_utils.health.kubelet_checks import (
    HEALTHZ,
    healthz,
    healthz_requirement,
)
from ansible_collections.volcano.colocation.plugins.module_utils.systemd import service_units
from ansible_collections.volcano.colocation.tests.support.node.simulation import KUBELET, Simulation, document
from ansible_collections.volcano.colocation.tests.support.node.tcp_listener import listening
from ansible_collections.volcano.colocation.tests.support.node.transaction_runs import carry_out

NOWHERE = "http://127.0.0.1:9/healthz"


def plan_that_asks(simulation: Simulation, url: str | None) -> dict[str, Any]:
    plan = document(simulation)
    plan["gate"]["kubelet_healthz"] = url
    return plan


def told(answer: dict[str, Any]) -> tuple[str, str]:
    (found,) = (each for each in answer["gate"] if each["check"] == HEALTHZ)
    return found["status"], found["detail"]


def test_what_did_not_answer_before_is_not_demanded_but_said(simulation: Simulation) -> None:
    answer = carry_out(simulation, plan_that_asks(simulation, NOWHERE))
    assert answer["state"] == "committed"
    status, detail = told(answer)
    assert status == "not proven"
    assert f"before the change, {NOWHERE} does not respond" in detail


def test_an_endpoint_that_is_switched_off_is_said(simulation: Simulation) -> None:
    answer = carry_out(simulation, plan_that_asks(simulation, None))
    assert answer["state"] == "committed"
    assert told(answer) == ("not proven", "kubelet's health endpoint is disabled (healthzPort 0)")


@pytest.mark.parametrize("url", [NOWHERE, None])
def test_a_kubelet_that_dies_is_caught_all_the_same(simulation: Simulation, url: str | None) -> None:
    plan = plan_that_asks(simulation, url)
    plan["files"][0]["after"] += "dies: true\n"
    tree = simulation.tree()
    answer = carry_out(simulation, plan)
    assert (answer["state"], answer["error"]["step"]) == ("rolled-back", "health gate")
    assert "kubelet stays up: kubelet.service ended after its start" in answer["error"]["message"]
    assert simulation.tree() == tree


def test_what_answered_before_is_demanded(simulation: Simulation) -> None:
    plan = document(simulation)
    plan["files"][0]["after"] += "silent: true\n"
    answer = carry_out(simulation, plan)
    assert (answer["state"], told(answer)[0]) == ("rolled-back", "failed")


@pytest.mark.parametrize(
    ("verdict", "active", "node_worked", "demanded"),
    [
        (Verdict.PASSED, "active", True, True),
        (Verdict.WAITING, "active", True, False),
        (Verdict.WAITING, "active", False, True),
        (Verdict.WAITING, "activating", True, True),
        (Verdict.WAITING, "inactive", True, True),
    ],
)
def test_when_it_is_demanded(
    simulation: Simulation, verdict: Verdict, active: str, node_worked: bool, demanded: bool
) -> None:
    unit = replace(service_units.show(simulation.node, KUBELET), active=active)
    found = healthz_requirement(Finding(HEALTHZ, verdict, "it hangs"), unit, node_worked=node_worked)
    assert found["demanded"] is demanded
    assert bool(found["reason"]) is not demanded


@contextmanager
def saying(words: bytes) -> Iterator[str]:
    """The URL of something that says this to whoever asks, and hangs up."""

    def serve(server: socket.socket) -> None:
        while True:
            try:
                connection, _address = server.accept()
            except OSError:
                return
            with connection:
                connection.recv(4096)
                connection.sendall(words)

    with listening() as server:
        thread = threading.Thread(target=serve, args=(server,))
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/healthz"
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


@pytest.mark.parametrize(
    ("words", "told_as"),
    [
        (b"SSH-2.0-OpenSSH_9.2\r\n", "HTTP (BadStatusLine)"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nok", "HTTP (IncompleteRead)"),
        (b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 200 + b"\r\nok", "HTTP (HTTPException)"),
    ],
)
def test_an_answer_that_is_none_is_waited_over(simulation: Simulation, words: bytes, told_as: str) -> None:
    with saying(words) as url:
        found = healthz(simulation.node, url)
    assert (found.verdict, found.detail) == (Verdict.WAITING, f"{url} does not return {told_as}")


def test_whatever_happens_while_the_old_health_is_waited_for_there_is_an_answer(
    simulation: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: Any) -> Finding:
        raise RuntimeError("of nobody's making")

    monkeypatch.setattr(pod_checks, "pods_returned", fail)
    tree = simulation.tree()
    answer = carry_out(simulation, document(simulation))
    assert answer["state"] == "rollback-failed"
    assert "health gate: unexpected RuntimeError" in answer["error"]["node"]
    assert simulation.tree() == tree
