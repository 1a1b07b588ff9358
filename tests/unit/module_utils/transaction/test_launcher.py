# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.host import Host
from ansible_collections.volcano.colocation.plugins.module_utils.state.plan_document import parse_plan, sha256
from ansible_collections.volcano.colocation.plugins.module_utils.state.store import Store
from ansible_collections.volcano.colocation.plugins.module_utils.transaction import launcher, runner
from ansible_collections.volcano.colocation.plugins.module_utils.transaction.launcher import NotStarted
from ansible_collections.volcano.colocation.tests.support.node.simulation import SECRET, Simulation, document


def start(simulation: Simulation, plan: dict[str, Any], seconds: float = 5.0) -> dict[str, Any]:
    text = json.dumps(plan)
    return launcher.start(simulation.host, parse_plan(text), text, seconds)


def run(simulation: Simulation, transaction: str) -> tuple[int, str, str]:
    """Run the command of the transient unit directly."""
    runner.execute(simulation.node, simulation.store, transaction, lambda line: None)
    return 0, "", ""


def starts(simulation: Simulation) -> list[tuple[str, ...]]:
    return [argv for argv in simulation.commands if argv[0] == "systemd-run"]


def test_the_engine_runs_in_a_separate_unit(simulation: Simulation) -> None:
    simulation.launch = lambda _command, transaction: run(simulation, transaction)
    assert start(simulation, document(simulation))["state"] == "committed"
    (argv,) = starts(simulation)
    assert argv[:6] == ("systemd-run", "--unit", "volcano-colocation-t-1.service", "--collect", "--no-block", "--quiet")
    assert "--property=Restart=on-abnormal" in argv
    assert argv[-2:] == ("run", "t-1")
    assert Path(simulation.host.path(argv[-3])).joinpath("__main__.py").exists()
    assert SECRET not in " ".join(argv)


def test_the_same_id_again_only_waits(simulation: Simulation) -> None:
    simulation.launch = lambda _command, transaction: run(simulation, transaction)
    plan = document(simulation)
    first = start(simulation, plan)
    assert start(simulation, plan) == first
    assert launcher.wait(simulation.host, "t-1", 5.0) == first
    assert len(starts(simulation)) == 1


def test_the_progress_of_a_running_transaction(simulation: Simulation) -> None:
    result = start(simulation, document(simulation), 0.0)
    assert (result["state"], result["step"], result["steps"]) == ("applying", "check the node", [])
    assert launcher.pending(simulation.host) == []


def test_a_dead_engine_is_restarted_and_rolls_back(simulation: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    class Killed(BaseException):
        pass

    def kill(line: str) -> None:
        if line.startswith("write files"):
            raise Killed

    def launched(_command: str, transaction: str) -> tuple[int, str, str]:
        if len(starts(simulation)) > 1:
            return run(simulation, transaction)
        with pytest.raises(Killed):
            runner.execute(simulation.node, simulation.store, transaction, kill)
        return 0, "", ""

    monkeypatch.setattr(launcher, "UNIT_POLL", 0.05)
    simulation.launch = launched
    tree = simulation.tree()
    plan = document(simulation)
    assert start(simulation, plan, 0.0)["step"] == "write files"
    assert launcher.pending(simulation.host) == ["t-1"]
    result = launcher.wait(simulation.host, "t-1", 10.0)
    assert (result["state"], result["error"]["step"]) == ("rolled-back", "write files")
    assert simulation.tree() == tree
    assert launcher.pending(simulation.host) == []


def test_an_engine_without_a_result_is_given_up(simulation: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launcher, "UNIT_POLL", 0.05)
    with pytest.raises(NotStarted, match=r"journalctl --unit volcano-colocation-t-1.service"):
        start(simulation, document(simulation))
    assert len(starts(simulation)) == 1 + launcher.RELAUNCHES


def polls(simulation: Simulation, count: int) -> None:
    """Poll like a waiting controller."""
    for _poll in range(count):
        launcher.wait(simulation.host, "t-1", 0.08)


def test_an_engine_that_dies_between_two_polls_is_not_restarted_forever(
    simulation: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launcher, "UNIT_POLL", 0.05)
    monkeypatch.setattr(launcher, "POLL", 0.01)
    plan = document(simulation)
    plan["gate"]["timeout"] = 2000
    assert start(simulation, plan, 0.0)["state"] == "applying"
    with pytest.raises(NotStarted, match=f"was started {1 + launcher.RELAUNCHES} times"):
        polls(simulation, 20)
    assert len(starts(simulation)) == 1 + launcher.RELAUNCHES
    assert all("--property=RuntimeMaxSec=7800.0" in argv for argv in starts(simulation))


def test_a_restarted_engine_has_the_same_time_limit(cut_off: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launcher, "UNIT_POLL", 0.05)
    assert launcher.progress(cut_off.store, "t-1")["limit"] == 3 * 60 + 1800 + 900
    cut_off.launch = lambda _command, transaction: run(cut_off, transaction)
    assert launcher.wait(cut_off.host, "t-1", 10.0)["state"] == "rolled-back"
    assert "--property=RuntimeMaxSec=1980.0" in starts(cut_off)[0]
    assert not cut_off.store.read("t-1", "launches.json")


def test_systemd_cannot_start_the_engine(simulation: Simulation) -> None:
    simulation.launch = lambda _command, transaction: (1, "", "Failed to start transient service unit: Access denied")
    result = start(simulation, document(simulation))
    assert (result["state"], result["error"]["node"]) == ("refused", "nothing was changed")
    assert "Access denied" in result["error"]["message"]
    assert SECRET not in simulation.stored_text()


def test_a_node_without_systemd_is_refused(simulation: Simulation) -> None:
    simulation.write("/proc/1/comm", "sh\n")
    result = start(simulation, document(simulation))
    assert result["state"] == "refused"
    assert starts(simulation) == []


def files_alone(simulation: Simulation) -> dict[str, Any]:
    plan = document(simulation, services={}, checkpoints=[], sandboxes=None, gate=None, validate=[])
    return {**plan, "stale_cgroups": [], "fresh_cgroups": []}


def test_a_plan_with_files_only_needs_no_systemd(simulation: Simulation) -> None:
    simulation.write("/proc/1/comm", "sh\n")
    assert start(simulation, files_alone(simulation))["state"] == "committed"
    assert simulation.commands == []


@pytest.mark.parametrize("files_only", [True, False])
def test_an_engine_that_cannot_be_installed_is_a_refusal(simulation: Simulation, files_only: bool) -> None:
    """A read-only /usr/local, here replaced by a file. A plan with files only also needs the engine for a power cut."""
    place = Path(simulation.host.path("/usr/local/lib/volcano-colocation"))
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("x")
    plan = files_alone(simulation) if files_only else document(simulation)
    result = start(simulation, plan)
    assert result["state"] == "refused"
    assert "/usr/local/lib/volcano-colocation: cannot use it: File exists" in result["error"]["message"]
    assert simulation.store.read(plan["id"], "result.json") == result
    assert not Path(simulation.store.path(plan["id"], "plan.json")).exists()


def test_waiting_for_an_unknown_transaction_is_refused(simulation: Simulation) -> None:
    with pytest.raises(NotStarted, match="transaction t-9 does not exist"):
        launcher.wait(simulation.host, "t-9", 1.0)


def test_a_state_directory_that_cannot_be_created_is_a_refusal(simulation: Simulation) -> None:
    simulation.write("/var/lib/volcano-colocation", "a file in its place")
    result = start(simulation, document(simulation))
    assert result["state"] == "refused"
    assert result["error"]["message"].startswith("/var/lib/volcano-colocation: cannot store a transaction there")


def test_an_image_gets_files_only(tmp_path: Path) -> None:
    """Host refuses to run programs for an image, so the test would fail if one were run."""
    target = tmp_path / "etc" / "containerd" / "config.toml"
    target.parent.mkdir(parents=True)
    target.write_text("old\n")
    plan = {
        "schema": 1,
        "id": "t-1",
        "files": [
            {"path": "/etc/containerd/config.toml", "before_sha256": sha256(b"old\n"), "after": "new\n"},
        ],
        "validate": [{"name": "dump", "argv": ["containerd"], "file": "/etc/containerd/config.toml"}],
        "services": {"runtime": {"unit": "containerd.service", "action": "leave"}},
    }
    host = Host(str(tmp_path))
    text = json.dumps(plan)
    result = launcher.start(host, parse_plan(text), text, 1.0)
    assert (result["state"], target.read_text()) == ("committed", "new\n")
    assert sorted(os.listdir(Store(host).path("t-1"))) == ["backups", "journal.json", "result.json"]
    text = json.dumps(dict(plan, id="t-2"))
    again = launcher.start(host, parse_plan(text), text, 1.0)
    assert (again["state"], target.read_text()) == ("refused", "new\n")
