# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet's health endpoint in the gate: required if it responded before, or if kubelet was not running properly."""

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
from ansible_collections.volcano.colocation.tests.support.node.transaction_runs import run_transaction

NOWHERE = "http://127.0.0.1:9/healthz"


def plan_that_asks(simulation: Simulation, url: str | None) -> dict[str, Any]:
    plan = document(simulation)
    plan["gate"]["kubelet_healthz"] = url
    return plan


def healthz_finding(result: dict[str, Any]) -> tuple[str, str]:
    (finding,) = (check for check in result["gate"] if check["check"] == HEALTHZ)
    return finding["status"], finding["detail"]


def test_an_endpoint_that_did_not_respond_before_is_not_proven(simulation: Simulation) -> None:
    result = run_transaction(simulation, plan_that_asks(simulation, NOWHERE))
    assert result["state"] == "committed"
    status, detail = healthz_finding(result)
    assert status == "not proven"
    assert f"before the change, {NOWHERE} does not respond" in detail


def test_a_disabled_endpoint_is_reported(simulation: Simulation) -> None:
    result = run_transaction(simulation, plan_that_asks(simulation, None))
    assert result["state"] == "committed"
    assert healthz_finding(result) == ("not proven", "kubelet's health endpoint is disabled (healthzPort 0)")


@pytest.mark.parametrize("url", [NOWHERE, None])
def test_a_kubelet_that_dies_is_detected_anyway(simulation: Simulation, url: str | None) -> None:
    plan = plan_that_asks(simulation, url)
    plan["files"][0]["after"] += "dies: true\n"
    tree = simulation.tree()
    result = run_transaction(simulation, plan)
    assert (result["state"], result["error"]["step"]) == ("rolled-back", "health gate")
    assert "kubelet stays up: kubelet.service ended after its start" in result["error"]["message"]
    assert simulation.tree() == tree


def test_an_endpoint_that_responded_before_is_required(simulation: Simulation) -> None:
    plan = document(simulation)
    plan["files"][0]["after"] += "silent: true\n"
    result = run_transaction(simulation, plan)
    assert (result["state"], healthz_finding(result)[0]) == ("rolled-back", "failed")


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
def test_when_the_endpoint_is_required(
    simulation: Simulation, verdict: Verdict, active: str, node_worked: bool, demanded: bool
) -> None:
    unit = replace(service_units.show(simulation.node, KUBELET), active=active)
    finding = healthz_requirement(Finding(HEALTHZ, verdict, "it hangs"), unit, node_worked=node_worked)
    assert finding["demanded"] is demanded
    assert bool(finding["reason"]) is not demanded


@contextmanager
def responding(words: bytes) -> Iterator[str]:
    """The URL of a server that sends these bytes to every client and closes the connection."""

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
    ("words", "problem"),
    [
        (b"SSH-2.0-OpenSSH_9.2\r\n", "HTTP"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nok", "HTTP"),
        (b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 200 + b"\r\nok", "HTTP"),
    ],
)
def test_an_invalid_response_is_waited_for(simulation: Simulation, words: bytes, problem: str) -> None:
    with responding(words) as url:
        finding = healthz(simulation.node, url)
    assert (finding.verdict, finding.detail) == (Verdict.WAITING, f"{url} does not return {problem}")


def test_an_error_while_waiting_for_the_old_health_still_yields_a_result(
    simulation: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: Any) -> Finding:
        raise RuntimeError("unexpected")

    monkeypatch.setattr(pod_checks, "pods_returned", fail)
    tree = simulation.tree()
    result = run_transaction(simulation, document(simulation))
    assert result["state"] == "rollback-failed"
    assert "health gate: unexpected RuntimeError" in result["error"]["node"]
    assert simulation.tree() == tree
