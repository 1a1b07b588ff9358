# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Agents of both releases on all kinds of nodes publish what the pods of their node leave."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.tests.agent.conftest import Deployed
from ansible_collections.volcano.colocation.tests.agent.field import (
    BATCH_CPU,
    BATCH_MEMORY,
    COLOCATION,
    CPUS,
    NODES,
    ONLINE,
    OVERSUBSCRIPTION,
    RATIO,
    SYSTEM_MEMORY,
    TIMEOUT,
    Field,
    memory_of_pods,
    nodes_of,
)
from ansible_collections.volcano.colocation.tests.agent.machines import MEMORY, TREES
from ansible_collections.volcano.colocation.tests.volcano.cluster import eventually

DAC_OVERRIDE = 1 << 1
AGENT_USER = "1000"

pytestmark = pytest.mark.usefixtures("deployed")


@pytest.mark.parametrize("name", NODES)
def test_memory_is_a_share_of_what_the_nodes_pods_leave(field: Field, name: str) -> None:
    """Exact: the counters of memory stand still."""
    used = memory_of_pods(name) + (SYSTEM_MEMORY if NODES[name][0] == "old" else 0)
    expected = (MEMORY - used) * RATIO // 100
    eventually(lambda: field.amount(name, BATCH_MEMORY) == expected, lambda: field.log(name), TIMEOUT)


@pytest.mark.parametrize("name", NODES)
def test_cpu_is_a_share_of_what_the_nodes_pods_leave(field: Field, name: str) -> None:
    """Within the tenth by which the agent lets its report differ from what it measures, and an error of measurement."""
    expected = (CPUS * 1000 - ONLINE.of("pods")) * RATIO // 100
    eventually(lambda: abs((field.amount(name, BATCH_CPU) or 0) - expected) < 300, lambda: field.log(name), TIMEOUT)


@pytest.mark.parametrize("name", NODES)
def test_the_running_agent_has_the_nodes_driver_and_reads_its_cgroups(field: Field, name: str) -> None:
    """Read from the process: its environment, and what its root directory shows at the path that it uses."""
    _age, version, driver = NODES[name]
    process, machine = field.process(name), field.machines[name]
    variables = dict(
        line.split("=", 1) for line in (process / "environ").read_bytes().decode().split("\0") if "=" in line
    )
    assert variables["CGROUP_DRIVER"] == driver
    assert (variables["KUBE_NODE_NAME"], variables["KUBELET_ROOT_DIR"]) == (name, "/var/lib/kubelet")
    controller = "memory" if version == "v1" else ""
    top = process / "root" / variables["SYS_FS_PATH"].lstrip("/") / "cgroup" / controller / TREES[driver]["pods"]
    assert (top / "memory.stat").samefile(machine.directory(TREES[driver]["pods"], controller) / "memory.stat")
    kubelet = process / "root/var/lib/kubelet/cpu_manager_state"
    assert kubelet.samefile(machine.root / "var/lib/kubelet/cpu_manager_state")


@pytest.mark.parametrize("name", NODES)
def test_the_agent_runs_as_its_user_and_may_only_write_files_of_others(field: Field, name: str) -> None:
    """The program has the file capability of upstream's image, and the container the capabilities of the manifest."""
    status = dict(line.split(":\t", 1) for line in (field.process(name) / "status").read_text().splitlines())
    assert set(status["Uid"].split()) == {AGENT_USER}
    assert int(status["CapEff"], 16) == DAC_OVERRIDE


@pytest.mark.parametrize("name", NODES)
def test_the_node_has_the_labels(field: Field, name: str) -> None:
    labels = field.node(name)["metadata"]["labels"]
    assert (labels[COLOCATION], labels[OVERSUBSCRIPTION]) == ("true", "true")


def test_modules_and_role_say_that_they_changed_something(deployed: Deployed) -> None:
    assert deployed.objects["changed"]
    assert deployed.labels["changed"]
    assert deployed.run.recap(nodes_of("new")[0])["changed"] == 2


def test_another_run_of_the_role_changes_nothing_on_nodes_that_nobody_changed(field: Field) -> None:
    again = field.role("old")
    assert (again.code, again.recap(nodes_of("old")[0])["changed"]) == (0, 0), again.output
