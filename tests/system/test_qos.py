# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the best-effort class and its pod outlive all that undoes raw writes, and go without a trace."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.system.node import Node, Run, ansible, lab

PLAYBOOK = str(Path(__file__).with_name("qos.yml"))
UNIT = "volcano-colocation-qos.service"
CLASS = "/sys/fs/cgroup/kubepods.slice/kubepods-besteffort.slice"
POD = f"{CLASS}/kubepods-besteffort-pod*.slice"

CLASS_SETTINGS: dict[str, Any] = {"cpu_quota": "1.5", "memory_high": "512Mi", "pids_max": 4000}
POD_SETTINGS: dict[str, Any] = {"cpu_quota": 1, "cpu_burst": "20ms"}
WANTED = {
    f"{CLASS}/cpu.max": "150000 100000",
    f"{CLASS}/memory.high": "536870912",
    f"{CLASS}/pids.max": "4000",
    f"{POD}/cpu.max": "100000 100000",
    f"{POD}/cpu.max.burst": "20000",
}
SYNC = 70
"""Seconds; kubelet writes its QoS classes once a minute (qos_container_manager_linux.go)."""
UNRELATED = "systemctl set-property --runtime kubepods-besteffort.slice MemoryLow={bytes}"


def qos(node: Node, level: str, *arguments: str, **variables: Any) -> Run:
    run = ansible(
        PLAYBOOK, node.folder, "-i", node.inventory, *arguments, qos_class="besteffort", qos_level=level, **variables
    )
    assert run.code == 0, run.output
    return run


def set_all(node: Node, *arguments: str) -> int:
    """How many of the two tasks changed something."""
    runs = [
        qos(node, "class", *arguments, qos_settings=CLASS_SETTINGS),
        qos(node, "pods", *arguments, qos_settings=POD_SETTINGS),
    ]
    return sum(run.recap(node.name)["changed"] for run in runs)


def kernel(node: Node) -> dict[str, str]:
    """The values as the kernel tells them; systemd writes a moment after it has answered."""
    node.shell("sleep 1")
    return {path: node.shell(f"cat {path}").strip() for path in WANTED}


def applied(node: Node) -> None:
    """Wait until the unit that applies the record again has done so."""
    node.shell(
        f"timeout 300 sh -c 'while [ $(systemctl show -p ActiveState --value {UNIT}) = activating ]; do sleep 1; done'"
    )


def write_raw(node: Node, values: Mapping[str, str]) -> None:
    for path, value in values.items():
        node.shell(f"echo '{value}' > $(echo {path})")


@pytest.fixture(scope="module", name="before")
def _before(node: Node) -> tuple[dict[str, str], str]:
    return kernel(node), node.tree()


def test_the_same_values_written_raw_are_lost(node: Node, before: tuple[dict[str, str], str]) -> None:
    of_class = {path: value for path, value in WANTED.items() if not path.startswith(POD)}
    write_raw(node, of_class)
    assert {path: kernel(node)[path] for path in of_class} == of_class
    node.shell(UNRELATED.format(bytes=4096))
    now = kernel(node)
    assert {path for path in of_class if now[path] == of_class[path]} == set()
    node.shell(UNRELATED.format(bytes=0))


def test_they_are_set_and_a_second_run_writes_nothing(node: Node, before: tuple[dict[str, str], str]) -> None:
    assert set_all(node, "--check") == 2
    assert kernel(node) == before[0]
    assert set_all(node) == 2
    assert kernel(node) == WANTED
    assert set_all(node) == 0
    assert node.shell(f"systemctl is-enabled {UNIT}").strip() == "enabled"


@pytest.mark.parametrize(
    "command",
    [
        pytest.param("systemctl daemon-reload", id="daemon-reload"),
        pytest.param("systemctl daemon-reexec", id="daemon-reexec"),
        pytest.param(UNRELATED.format(bytes=4096), id="a property that is not ours"),
        pytest.param(
            "for unit in $(cd /sys/fs/cgroup/kubepods.slice/kubepods-besteffort.slice && ls -d *pod*.slice); do "
            "systemctl set-property --runtime $unit MemoryLow=4096; done",
            id="a property of the pod that is not ours",
        ),
        pytest.param(f"sleep {SYNC}", id="kubelet's sync"),
        pytest.param(f"systemctl restart kubelet; sleep {SYNC}", id="restart of kubelet"),
    ],
)
def test_they_outlive(node: Node, command: str) -> None:
    node.shell(command)
    applied(node)
    assert kernel(node) == WANTED
    assert set_all(node, "--check") == 0


def test_they_outlive_a_reboot(node: Node) -> None:
    lab("reboot", node.name)
    applied(node)
    assert kernel(node) == WANTED
    log = node.shell(f"journalctl --boot --unit {UNIT} --output cat")
    assert (
        "kubepods-besteffort.slice memory_high: drifted from 536870912 to max, set again (the node was booted)" in log
    )
    assert set_all(node) == 0


def test_a_drift_is_predicted_and_repaired(node: Node) -> None:
    write_raw(node, {f"{CLASS}/memory.high": "max"})
    predicted = qos(node, "class", "--check", "--diff", qos_settings=CLASS_SETTINGS)
    assert predicted.recap(node.name)["changed"] == 1
    assert "+kubepods.slice/kubepods-besteffort.slice memory_high: 536870912" in predicted.output
    assert qos(node, "class", qos_settings=CLASS_SETTINGS).recap(node.name)["changed"] == 1
    assert kernel(node) == WANTED


def test_they_go_without_a_trace(node: Node, before: tuple[dict[str, str], str]) -> None:
    for level in ("class", "pods"):
        assert qos(node, level, "--check", qos_state="absent").recap(node.name)["changed"] == 1
        assert qos(node, level, qos_state="absent").recap(node.name)["changed"] == 1
        assert qos(node, level, qos_state="absent").recap(node.name)["changed"] == 0
    assert (kernel(node), node.tree()) == before
    assert node.shell("ls /var/lib/volcano-colocation/qos.json 2>/dev/null || true") == ""
    assert node.shell(f"systemctl list-unit-files --no-legend '{UNIT}' || true").strip() == ""
    assert node.shell("systemctl is-active kubelet").strip() == "active"
    node.shell("systemctl daemon-reload")
    assert kernel(node) == before[0]
