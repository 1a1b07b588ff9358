# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Plans that are refused before any change."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.state.node_lock import hold
from ansible_collections.volcano.colocation.plugins.module_utils.state.store import STATE_DIRECTORY
from ansible_collections.volcano.colocation.tests.support.node.simulation import (
    CONTAINERD,
    KUBELET_CONFIG,
    RUNTIME_CONFIG,
    SECRET,
    Simulation,
    document,
)
from ansible_collections.volcano.colocation.tests.support.node.transaction_runs import run_transaction


def refused(simulation: Simulation, plan: dict[str, Any], *, tree: dict[str, tuple[str, str]]) -> str:
    result = run_transaction(simulation, plan)
    assert result["state"] == "refused", result
    assert result["error"]["node"] == "nothing was changed"
    assert simulation.tree() == tree
    assert not [argv for argv in simulation.commands if argv[:2] in (("systemctl", "stop"), ("systemctl", "start"))]
    assert not Path(simulation.host.path(STATE_DIRECTORY + "/transactions/t-1/journal.json")).exists()
    return str(result["error"]["message"])


def test_a_foreign_edit_is_detected(simulation: Simulation) -> None:
    plan = document(simulation)
    simulation.write(KUBELET_CONFIG, "someone: else\n", 0o600)
    message = refused(simulation, plan, tree=simulation.tree())
    assert message.startswith(f"{KUBELET_CONFIG}: it was changed by someone else since it was read")


def test_a_created_or_deleted_file_is_detected(simulation: Simulation) -> None:
    plan = document(simulation)
    os.unlink(simulation.host.path(RUNTIME_CONFIG))
    assert "no longer exists" in refused(simulation, plan, tree=simulation.tree())


def test_a_new_file_that_already_exists_is_detected(simulation: Simulation) -> None:
    plan = document(simulation)
    simulation.write("/etc/containerd/extra/nri.toml", "foreign\n")
    assert "was created by someone else" in refused(simulation, plan, tree=simulation.tree())


def test_a_link_is_refused_with_its_destination(simulation: Simulation) -> None:
    plan = document(simulation)
    path = Path(simulation.host.path(KUBELET_CONFIG))
    path.rename(path.with_name("real.yaml"))
    path.symlink_to("real.yaml")
    message = refused(simulation, plan, tree=simulation.tree())
    assert message.startswith(f"{KUBELET_CONFIG}: it is a symbolic link to real.yaml. Use the path of the file itself")


def test_a_mounted_file_is_refused(simulation: Simulation) -> None:
    mounts = simulation.read("/proc/self/mountinfo") + f"31 24 0:27 /x {KUBELET_CONFIG} rw - ext4 /dev/vda rw\n"
    simulation.write("/proc/self/mountinfo", mounts)
    message = refused(simulation, document(simulation), tree=simulation.tree())
    assert message == f"{KUBELET_CONFIG}: it is itself a mount point. Use the path of the file behind the mount"


def test_a_text_that_the_program_rejects_is_refused(simulation: Simulation) -> None:
    plan = document(simulation)
    plan["files"][1]["after"] = "broken"
    message = refused(simulation, plan, tree=simulation.tree())
    assert message.startswith(f"{RUNTIME_CONFIG}: containerd config dump rejects the new file")
    assert SECRET not in message
    assert SECRET not in simulation.stored_text()


def test_a_text_with_another_value_for_the_program_is_refused(simulation: Simulation) -> None:
    plan = document(simulation)
    plan["files"][1]["after"] = "version = 2\n"
    message = refused(simulation, plan, tree=simulation.tree())
    assert (
        "reads plugins.cri.containerd.runtimes.runc.options.SystemdCgroup = false from the new file, not true"
        in message
    )


def test_a_runtime_whose_containers_would_die_is_not_restarted(simulation: Simulation) -> None:
    simulation.units[CONTAINERD].kill_mode = "control-group"
    plan = document(simulation, stale_cgroups=[], fresh_cgroups=[])
    plan["sandboxes"]["action"] = "leave"
    message = refused(simulation, plan, tree=simulation.tree())
    assert "containerd.service has KillMode=control-group" in message
    assert "KillMode=process" in message


@pytest.mark.parametrize(("processes", "refuses"), [((), False), (("77",), True), (None, True)])
def test_only_processes_of_the_units_own_cgroup_end_with_it(
    simulation: Simulation, processes: tuple[str, ...] | None, refuses: bool
) -> None:
    unit = simulation.units[CONTAINERD]
    unit.kill_mode, unit.control_group = "control-group", "/system.slice/containerd.service"
    if processes is not None:
        simulation.write(f"/sys/fs/cgroup{unit.control_group}/cgroup.procs", f"{unit.pid}\n")
        simulation.write(
            f"/sys/fs/cgroup{unit.control_group}/below/cgroup.procs", "".join(f"{pid}\n" for pid in processes)
        )
    plan = document(simulation, stale_cgroups=[], fresh_cgroups=[])
    plan["sandboxes"]["action"] = "leave"
    result = run_transaction(simulation, plan)
    message = str((result["error"] or {}).get("message"))
    assert ("KillMode=control-group" in message) is refuses


def test_a_program_may_get_the_directory_that_contains_only_the_new_text(simulation: Simulation) -> None:
    plan = document(simulation)
    plan["validate"][0].update(name="crio config", argv=["crio", "--config=", "--config-dir={folder}", "config"])
    plan["validate"][0]["expect"] = [{"table": ["crio", "runtime"], "key": "cgroup_manager", "value": "cgroupfs"}]
    listings: list[list[str]] = []

    def crio(argv: tuple[str, ...]) -> tuple[int, str, str]:
        listings.append(os.listdir(argv[2].partition("=")[2]))
        return 0, '[crio.runtime]\n# cgroup_manager = "cgroupfs"\n', ""

    simulation.crio = crio
    message = refused(simulation, plan, tree=simulation.tree())
    assert listings == [["config.toml"]]
    assert "crio config reads crio.runtime.cgroup_manager = nothing from the new file, not cgroupfs" in message


def test_a_node_without_systemd_is_refused(simulation: Simulation) -> None:
    simulation.write("/proc/1/comm", "tini\n")
    message = refused(simulation, document(simulation), tree=simulation.tree())
    assert message.startswith("process 1 of this node is tini, not systemd")


def test_an_unknown_or_masked_unit_is_refused(simulation: Simulation) -> None:
    plan = document(simulation)
    plan["services"]["kubelet"]["unit"] = "snap.kubelet.service"
    assert "the unit snap.kubelet.service is not-found" in refused(simulation, plan, tree=simulation.tree())


def test_a_running_runtime_that_does_not_respond_is_refused(simulation: Simulation) -> None:
    assert simulation.server is not None
    simulation.server.close()
    message = refused(simulation, document(simulation), tree=simulation.tree())
    simulation.server = None
    assert "cannot be reached: Connection refused" in message


def test_the_holder_of_the_lock_is_named(simulation: Simulation) -> None:
    with hold(simulation.store.lock_path, "20261121T000000-other"):
        message = refused(simulation, document(simulation), tree=simulation.tree())
    assert "another transaction is running on this node: 20261121T000000-other, pid" in message
