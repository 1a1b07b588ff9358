# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any, Sequence

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.host import CommandResult
from ansible_collections.volcano.colocation.plugins.module_utils.systemd import service_units
from ansible_collections.volcano.colocation.plugins.module_utils.systemd.service_units import ServiceError
from ansible_collections.volcano.colocation.tests.support.node.simulation import CONTAINERD, KUBELET, Simulation


def test_show(simulation: Simulation) -> None:
    state = service_units.show(simulation.node, CONTAINERD)
    assert (state.load, state.active, state.kill_mode, state.runs) == ("loaded", "active", "process", True)
    missing = service_units.show(simulation.node, "missing.service")
    assert (missing.load, missing.active, missing.runs) == ("not-found", "inactive", False)


@pytest.mark.parametrize(
    ("active", "runs"), [("active", True), ("activating", True), ("failed", False), ("inactive", False)]
)
def test_a_unit_between_two_attempts_should_run(simulation: Simulation, active: str, runs: bool) -> None:
    simulation.units[KUBELET].active = active
    assert service_units.show(simulation.node, KUBELET).runs is runs


def test_stop_and_start(simulation: Simulation) -> None:
    service_units.stop(simulation.node, KUBELET)
    assert simulation.state()[KUBELET] == "inactive"
    service_units.start(simulation.node, KUBELET)
    assert simulation.state()[KUBELET] == "active"
    assert simulation.commands[-2:] == [("systemctl", "reset-failed", KUBELET), ("systemctl", "start", KUBELET)]


def test_a_start_may_take_longer_than_a_stop(simulation: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    host = type(simulation.node.host)
    limits: dict[str, float] = {}
    run = host.run

    def record_timeout(self: Any, argv: Sequence[str], timeout: float = 30.0) -> Any:
        limits[argv[1]] = timeout
        return run(self, argv, timeout)

    monkeypatch.setattr(host, "run", record_timeout)
    service_units.stop(simulation.node, KUBELET)
    service_units.start(simulation.node, KUBELET)
    assert (limits["stop"], limits["start"]) == (180.0, 600.0)


def test_a_failed_job_says_why(simulation: Simulation) -> None:
    simulation.refused_jobs = {("start", KUBELET)}
    simulation.log = "F1121 01:00:00.000000 1 server.go:1] unknown flag: --x"
    with pytest.raises(ServiceError) as caught:
        service_units.start(simulation.node, KUBELET)
    assert str(caught.value) == (
        "systemctl start kubelet.service failed: Job for kubelet.service failed because the control process exited with"
        " error code. The log of kubelet.service says: server.go:1] unknown flag: --x."
        " See journalctl --unit kubelet.service on the node"
    )


def test_a_unit_that_something_starts_again_is_named(simulation: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulation, "_job", lambda verb, name: (0, "", ""))
    with pytest.raises(ServiceError, match=r"kubelet.service was stopped, but is active again. Find the unit"):
        service_units.stop(simulation.node, KUBELET)


@pytest.mark.parametrize("silent", [1, service_units.SHOW_TRIES - 1, service_units.SHOW_TRIES])
def test_a_state_without_a_timely_reply_is_requested_again(
    simulation: Simulation, monkeypatch: pytest.MonkeyPatch, silent: int
) -> None:
    host = type(simulation.node.host)
    run, asked = host.run, []

    def late(self: Any, argv: Sequence[str], timeout: float = 30.0) -> Any:
        asked.append(argv[1])
        if len(asked) <= silent:
            return CommandResult(tuple(argv), None, "", "no answer within 30 s", 45.0)
        return run(self, argv, timeout)

    monkeypatch.setattr(host, "run", late)
    if silent < service_units.SHOW_TRIES:
        assert service_units.show(simulation.node, KUBELET).active == "active"
    else:
        with pytest.raises(ServiceError, match=r"state of kubelet.service: no answer within 30 s. Check systemd"):
            service_units.show(simulation.node, KUBELET)
    assert asked == ["show"] * min(silent + 1, service_units.SHOW_TRIES)
