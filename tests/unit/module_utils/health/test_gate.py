# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.health import gate, pod_checks, runtime_checks
from ansible_collections.volcano.colocation.plugins.module_utils.health.finding import Finding, Verdict
from ansible_collections.volcano.colocation.plugins.module_utils.health.kubelet_checks import (
    KubeletStableCheck,
    checkpoint,
    healthz,
)
from ansible_collections.volcano.colocation.plugins.module_utils.state.plan_document import Checkpoint
from ansible_collections.volcano.colocation.tests.support.node.cgroup_paths import (
    CGROUPFS,
    DECISIVE,
    FOREIGN,
    MISPLACED,
    SYSTEMD,
)
from ansible_collections.volcano.colocation.tests.support.node.cri_server import Container, Sandbox
from ansible_collections.volcano.colocation.tests.support.node.simulation import (
    CHECKPOINT,
    ENDPOINT,
    KUBELET,
    NRI,
    Simulation,
)


def check_shape(simulation: Simulation, driver: str = "cgroupfs") -> Finding:
    return pod_checks.cgroup_shape(simulation.node, ENDPOINT, driver)


def test_containers_in_cgroups_of_another_driver_are_waited_for(simulation: Simulation) -> None:
    assert check_shape(simulation).verdict is Verdict.PASSED
    wrong = check_shape(simulation, "systemd")
    assert wrong.verdict is Verdict.WAITING
    assert "2 of 2 containers are not in cgroups of the systemd driver, for example etcd (" in wrong.detail


def judged(simulation: Simulation, text: str) -> list[str]:
    """The drivers for which the check passes if all containers are in this cgroup."""
    for container in simulation.runtime.containers:
        simulation.write(f"/proc/{container.pid}/cgroup", text)
    drivers = ("systemd", "cgroupfs")
    return [driver for driver in drivers if check_shape(simulation, driver).verdict is Verdict.PASSED]


def test_each_path_passes_for_the_driver_that_made_it_only(simulation: Simulation) -> None:
    shapes = {path: ["systemd"] for path in SYSTEMD.values()}
    shapes.update({path: ["cgroupfs"] for path in CGROUPFS.values()})
    shapes.update({path: [] for path in (*MISPLACED.values(), *FOREIGN.values())})
    assert {path: judged(simulation, f"0::{path}\n") for path in shapes} == shapes


@pytest.mark.parametrize(("text", "path"), DECISIVE.values(), ids=DECISIVE)
def test_the_decisive_line(simulation: Simulation, text: str, path: str) -> None:
    judged(simulation, text)
    finding = check_shape(simulation)
    if not path:
        assert finding.verdict is Verdict.NOT_PROVEN
    else:
        assert finding.detail.endswith(f" in {path}")


def test_containers_that_do_not_run_or_ended_just_now_do_not_count(simulation: Simulation) -> None:
    simulation.runtime.containers[0].state = 2
    simulation.runtime.containers[1].pid = 999
    finding = check_shape(simulation)
    assert (finding.verdict, finding.detail) == (Verdict.NOT_PROVEN, "no container is running")


def test_the_gate_waits_until_pods_have_returned(simulation: Simulation) -> None:
    def verdict(before: dict[str, int]) -> Verdict:
        return pod_checks.pods_returned(simulation.node, ENDPOINT, before).verdict

    assert verdict({"default/etcd": 1, "default/proxy": 1}) is Verdict.PASSED
    assert verdict({"default/etcd": 2}) is Verdict.WAITING
    assert verdict({"other/etcd": 0}) is Verdict.WAITING
    assert verdict({}) is Verdict.NOT_PROVEN
    simulation.runtime.sandboxes.append(Sandbox("dead", "gone", ready=False))
    simulation.runtime.containers.append(Container("c-dead", "dead"))
    assert verdict({"default/gone": 0}) is Verdict.WAITING


def test_the_gate_waits_until_the_runtime_is_ready(simulation: Simulation) -> None:
    assert runtime_checks.ready(simulation.node, ENDPOINT).detail == "containerd 1.7.24"
    simulation.runtime.ready = False
    assert runtime_checks.ready(simulation.node, ENDPOINT).verdict is Verdict.WAITING
    assert runtime_checks.ready(simulation.node, "/run/none.sock").verdict is Verdict.WAITING


def test_a_running_handler_with_another_driver_fails_the_gate(simulation: Simulation) -> None:
    def finding(expected: dict[str, bool]) -> Finding:
        return runtime_checks.handlers(simulation.node, ENDPOINT, expected)

    options = {"runc": {"options": {"SystemdCgroup": True}}, "crun": {"options": None}, "kata": {}}
    simulation.runtime.config = {"containerd": {"runtimes": options}}
    assert finding({"runc": True, "crun": False, "kata": False}).verdict is Verdict.PASSED
    wrong = finding({"runc": True, "crun": True})
    assert (wrong.verdict, wrong.detail) == (Verdict.FAILED, "running value: crun=False")
    assert "nvidia=no such handler" in finding({"nvidia": True}).detail
    simulation.runtime.config = {"containerd": {"runtimes": {"runc": {"options": {"systemdcgroup": True}}}}}
    assert finding({"runc": True}).verdict is Verdict.PASSED
    simulation.runtime.config = {}
    assert finding({"runc": True}).verdict is Verdict.FAILED


def test_an_nri_socket_that_is_older_than_the_restart_is_waited_for(simulation: Simulation) -> None:
    now = Path(simulation.host.path(NRI)).stat().st_ctime

    def verdict(newer_than: float | None, path: str = NRI) -> Verdict:
        return runtime_checks.nri_socket(simulation.node, path, newer_than).verdict

    assert verdict(now) is Verdict.PASSED
    assert verdict(None) is Verdict.PASSED
    assert verdict(now + 60) is Verdict.WAITING
    assert verdict(None, "/run/other.sock") is Verdict.WAITING
    connected = f"0: 3 0 00000000 1 3 7 {NRI}\n"
    simulation.write("/proc/net/unix", "Num RefCount Protocol Flags Type St Inode Path\n" + connected)
    assert verdict(None) is Verdict.WAITING


def test_the_gate_waits_until_kubelet_is_healthy(simulation: Simulation) -> None:
    assert healthz(simulation.node, simulation.healthz_url).verdict is Verdict.PASSED
    simulation.healthy = False
    assert "returns HTTP status 500" in healthz(simulation.node, simulation.healthz_url).detail
    assert "does not respond" in healthz(simulation.node, "http://127.0.0.1:9/healthz").detail
    assert healthz(simulation.node, "nonsense").verdict is Verdict.WAITING


def test_a_kubelet_that_keeps_running(simulation: Simulation) -> None:
    steady = KubeletStableCheck(simulation.node, KUBELET)
    assert steady().verdict is Verdict.WAITING
    simulation.clock.sleep(9)
    assert steady().verdict is Verdict.WAITING
    simulation.clock.sleep(1)
    assert steady().verdict is Verdict.PASSED


@pytest.mark.parametrize("change", ["pid", "restarts", "failed", "auto-restart"])
def test_a_kubelet_that_does_not_keep_running(simulation: Simulation, change: str) -> None:
    steady = KubeletStableCheck(simulation.node, KUBELET)
    assert steady().verdict is Verdict.WAITING
    unit = simulation.units[KUBELET]
    if change in ("pid", "restarts"):
        setattr(unit, change, 4711)
    else:
        unit.active, unit.sub = ("failed", "failed") if change == "failed" else ("activating", "auto-restart")
    assert steady().verdict is Verdict.FAILED


def test_a_checkpoint_of_another_policy_is_waited_for(simulation: Simulation) -> None:
    def verdict(policy: str) -> Verdict:
        return checkpoint(simulation.node, "CPU manager checkpoint", Checkpoint(CHECKPOINT, policy)).verdict

    assert (verdict("none"), verdict("static")) == (Verdict.PASSED, Verdict.WAITING)
    simulation.write(CHECKPOINT, "[")
    assert verdict("none") is Verdict.WAITING
    Path(simulation.host.path(CHECKPOINT)).unlink()
    assert verdict("none") is Verdict.WAITING


class Scripted:
    """A check that returns these verdicts in order, then repeats the last one."""

    def __init__(self, *verdicts: Verdict) -> None:
        self._verdicts = list(verdicts)
        self.asked = 0

    def __call__(self) -> Finding:
        self.asked += 1
        verdict = self._verdicts.pop(0) if len(self._verdicts) > 1 else self._verdicts[0]
        return Finding("scripted", verdict, "")


W, P, F, N = Verdict.WAITING, Verdict.PASSED, Verdict.FAILED, Verdict.NOT_PROVEN


def watch(simulation: Simulation, *checks: Scripted) -> list[Verdict]:
    return [finding.verdict for finding in gate.watch(simulation.node, list(checks), 30.0, lambda: None)]


def test_watching_ends_when_all_passed_in_one_round(simulation: Simulation) -> None:
    slow, quick = Scripted(W, W, W, P), Scripted(P)
    assert watch(simulation, slow, quick) == [P, P]
    assert quick.asked == 2, "at the beginning and at the end"


def test_a_check_that_passed_too_early_is_detected(simulation: Simulation) -> None:
    assert watch(simulation, Scripted(P, W, W, P), Scripted(W, P)) == [P, P]


def test_watching_ends_at_a_final_failure_and_at_the_timeout(simulation: Simulation) -> None:
    assert watch(simulation, Scripted(W), Scripted(W, F)) == [W, F]
    began = simulation.clock.monotonic()
    assert watch(simulation, Scripted(W), Scripted(P)) == [W, P]
    assert 30 <= simulation.clock.monotonic() - began < 36


def test_a_check_that_is_not_proven_is_repeated_while_others_wait(simulation: Simulation) -> None:
    assert watch(simulation, Scripted(N, P), Scripted(W, W, P)) == [P, P]
    assert watch(simulation, Scripted(N)) == [N]
    assert watch(simulation) == []


def test_a_finding_that_is_still_waiting_has_failed() -> None:
    assert Finding("x", W, "y").document() == {"check": "x", "status": "failed", "detail": "y"}
    assert Finding("x", N, "y").document()["status"] == "not proven"


def test_a_runtime_with_another_driver_fails_the_gate(simulation: Simulation) -> None:
    def finding(expected: str) -> Finding:
        return runtime_checks.cgroup_driver(simulation.node, ENDPOINT, expected)

    assert finding("systemd").verdict is Verdict.NOT_PROVEN
    for number, driver, other in ((0, "systemd", "cgroupfs"), (1, "cgroupfs", "systemd")):
        simulation.runtime.cgroup_driver = number
        assert (finding(driver).verdict, finding(driver).detail) == (Verdict.PASSED, driver)
        assert (finding(other).verdict, finding(other).detail) == (Verdict.FAILED, f"running value: {driver}")
    assert runtime_checks.cgroup_driver(simulation.node, "/run/none.sock", "systemd").verdict is Verdict.WAITING
