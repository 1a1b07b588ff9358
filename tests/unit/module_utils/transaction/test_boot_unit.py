# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The unit that rolls back an open transaction at boot: its lifetime, and a shutdown during a transaction."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.host import Host
from ansible_collections.volcano.colocation.plugins.module_utils.state import installed_engine
from ansible_collections.volcano.colocation.plugins.module_utils.state.journal import unfinished_journals
from ansible_collections.volcano.colocation.plugins.module_utils.state.plan_document import parse_plan
from ansible_collections.volcano.colocation.plugins.module_utils.transaction import boot_unit, runner
from ansible_collections.volcano.colocation.plugins.module_utils.transaction.context import TransactionContext
from ansible_collections.volcano.colocation.plugins.module_utils.transaction.steps import Step
from ansible_collections.volcano.colocation.tests.support.node.power_cut_disk import Disk
from ansible_collections.volcano.colocation.tests.support.node.simulation import (
    CONTAINERD,
    KUBELET,
    Simulation,
    document,
)
from ansible_collections.volcano.colocation.tests.support.node.simulation_in_process import ENGINE
from ansible_collections.volcano.colocation.tests.support.node.transaction_runs import break_step, run_transaction


class Crash(BaseException):
    """Power is cut."""


def crash(step: Step, context: TransactionContext) -> str:
    step.do(context)
    raise Crash


def silent(_line: str) -> None:
    return


@pytest.fixture
def booted(simulation: Simulation) -> Simulation:
    simulation.node = replace(simulation.node, engine=ENGINE)
    simulation.write(f"{boot_unit.WANTS}/other.service", "")
    return simulation


def test_the_unit_exists_only_during_a_transaction(booted: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    units: list[str] = []

    def look(step: Step, context: TransactionContext) -> str:
        assert os.readlink(booted.host.path(boot_unit.LINK)) == boot_unit.UNIT_FILE
        assert os.stat(booted.host.path(boot_unit.UNIT_FILE)).st_mode & 0o777 == 0o644
        units.append(booted.read(boot_unit.UNIT_FILE))
        return step.do(context)

    break_step(monkeypatch, "stop kubelet", look)
    plan = document(booted)
    plan["services"]["runtime"]["unit"] = CONTAINERD
    assert run_transaction(booted, plan)["state"] == "committed"
    (text,) = units
    lines = text.splitlines()
    assert f"ExecStart={sys.executable} -I -B {ENGINE} recover-at-boot" in lines
    (before,) = [line.split("=")[1].split() for line in lines if line.startswith("Before=")]
    assert {KUBELET, CONTAINERD, "crio.service", "docker.service", "k3s.service", "rke2-server.service"} <= set(before)
    (mounts,) = [line.split("=")[1].split() for line in lines if line.startswith("RequiresMountsFor=")]
    assert {ENGINE, "/var/lib/volcano-colocation", "/var/lib/kubelet", "/etc/containerd"} <= set(mounts)
    assert "WantedBy=multi-user.target" in lines
    assert sorted(os.listdir(booted.host.path(boot_unit.UNIT_DIRECTORY))) == ["multi-user.target.wants"]
    assert os.listdir(booted.host.path(boot_unit.WANTS)) == ["other.service"]
    assert not [argv for argv in booted.commands if "daemon-reload" in argv or "enable" in argv]


def test_the_unit_starts_the_current_engine(booted: Simulation) -> None:
    booted.write(boot_unit.UNIT_FILE, "of another version\n", 0o600)
    plan = parse_plan(json.dumps(document(booted)))
    boot_unit.enable(booted.node, plan)
    assert booted.read(boot_unit.UNIT_FILE) == boot_unit.render_unit(ENGINE, plan)
    boot_unit.disable(booted.host)
    assert not boot_unit.is_enabled(booted.host)
    assert not os.path.exists(booted.host.path(boot_unit.UNIT_FILE))


def test_a_new_directory_of_links_is_removed(simulation: Simulation) -> None:
    plan = parse_plan(json.dumps(document(simulation)))
    boot_unit.enable(replace(simulation.node, engine=ENGINE), plan)
    boot_unit.disable(simulation.host)
    assert os.listdir(simulation.host.path(boot_unit.UNIT_DIRECTORY)) == []


def test_a_node_on_which_the_unit_cannot_be_created_is_refused(booted: Simulation) -> None:
    Path(booted.host.path(boot_unit.UNIT_FILE)).mkdir()
    tree = booted.tree()
    result = run_transaction(booted, document(booted))
    assert (result["state"], result["step"]) == ("refused", "back up")
    assert "cannot create the unit that rolls back the transaction after a power cut" in result["error"]["message"]
    assert booted.tree() == tree
    assert not [argv for argv in booted.commands if argv[:2] in (("systemctl", "stop"), ("systemctl", "start"))]


def test_the_next_run_reports_the_roll_back_at_boot(booted: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        break_step(patched, "write files", crash)
        with pytest.raises(Crash):
            run_transaction(booted, document(booted, "t-1"))
    booted.commands = []
    recovered = runner.recover_at_boot(booted.node, booted.store, silent)
    to_prove = [f"{CONTAINERD} runs", f"{KUBELET} runs", "2 pods run as before"]
    assert recovered == {"id": "t-1", "state": "rolled-back", "at_boot": True, "to_prove": to_prove}
    assert {argv[1] for argv in booted.commands} <= {"show"}
    error = booted.store.read("t-1", "result.json")["error"]
    assert error["message"] == "the node went down during the transaction"
    assert error["node"] == (
        f"every file is as it was; {CONTAINERD} is started by the boot; {KUBELET} is started by the boot"
    )
    for unit in (CONTAINERD, KUBELET):
        booted._job("start", unit)
    first = run_transaction(booted, document(booted, "t-2"))
    assert (first["state"], first["recovered"]) == ("committed", recovered)
    assert run_transaction(booted, document(booted, "t-3"))["recovered"] is None


def test_a_shutdown_defers_the_roll_back_to_the_boot(booted: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    """systemd does not start kubelet during a shutdown, so a roll-back could not finish."""

    def shut_down(step: Step, context: TransactionContext) -> str:
        booted.system = "stopping"
        raise runner.Cancelled("the transaction was asked to end", "")

    before = booted.tree()
    break_step(monkeypatch, "start kubelet", shut_down)
    with pytest.raises(boot_unit.DeferredToBoot):
        run_transaction(booted, document(booted))
    assert [journal.id for journal in unfinished_journals(booted.store)] == ["t-1"]
    assert boot_unit.is_enabled(booted.host)
    runner.recover_at_boot(booted.node, booted.store, silent)
    assert not boot_unit.is_enabled(booted.host)
    assert {path: file for path, file in booted.tree().items() if not path.startswith("/sys")} == {
        path: file for path, file in before.items() if not path.startswith("/sys")
    }


def test_the_engine_is_on_disk_before_it_is_used(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk(root)
    fsync = os.fsync

    def synced(handle: int) -> None:
        fsync(handle)
        disk.fsync(handle)

    monkeypatch.setattr(os, "fsync", synced)
    path = installed_engine.install_engine(Host(str(root)))
    tree: Any = disk.tree()
    code = installed_engine.sources()
    assert {name: tree[f"{path}/{name}"].content for name in code if f"{path}/{name}" in tree} == code
