# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the best-effort class and its pod survive events that reset raw writes, and are removed completely.

In this order. The scenarios test kubelet's sync, its restart and a reboot, on every kind of node.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.system.node import Node, Run, ansible

PLAYBOOK = str(Path(__file__).with_name("qos.yml"))
UNIT = "volcano-colocation-qos.service"
CLASS = "/sys/fs/cgroup/kubepods.slice/kubepods-besteffort.slice"
POD = f"{CLASS}/kubepods-besteffort-pod*.slice"

SETTINGS: dict[str, dict[str, Any]] = {
    "class": {"cpu_quota": "1.5", "memory_high": "512Mi", "pids_max": 4000},
    "pods": {"cpu_quota": 1, "cpu_burst": "20ms"},
}
DESIRED = {
    f"{CLASS}/cpu.max": "150000 100000",
    f"{CLASS}/memory.high": "536870912",
    f"{CLASS}/pids.max": "4000",
    f"{POD}/cpu.max": "100000 100000",
    f"{POD}/cpu.max.burst": "20000",
}
UNRELATED = "systemctl set-property --runtime kubepods-besteffort.slice MemoryLow={bytes}"


def attempt(node: Node, *arguments: str, state: str = "present") -> Run:
    run = ansible(
        PLAYBOOK, node.directory, "-i", node.inventory, *arguments, "--diff", qos_settings=SETTINGS, qos_state=state
    )
    assert run.code == 0, run.output
    return run


def changed(node: Node, *arguments: str, state: str = "present") -> int:
    """How many of the two targets changed."""
    output = attempt(node, *arguments, state=state).output
    match = re.search(r"changed: (\d)", output)
    assert match, output
    return int(match[1])


def kernel(node: Node) -> dict[str, str]:
    """Return the kernel's values; systemd writes shortly after its response."""
    texts = node.shell("sleep 1; " + "; ".join(f"cat {path}" for path in DESIRED)).splitlines()
    return dict(zip(DESIRED, texts, strict=True))


def write_raw(node: Node, values: Mapping[str, str]) -> dict[str, str]:
    """Write values; return those of the kernel immediately, before kubelet's sync may make systemd write others."""
    writes = [f"echo '{value}' > $(echo {path})" for path, value in values.items()]
    texts = node.shell("; ".join([*writes, *(f"cat {path}" for path in values)])).splitlines()
    return dict(zip(values, texts, strict=True))


@pytest.fixture(scope="module", name="before")
def _before(node: Node) -> tuple[dict[str, str], str]:
    return kernel(node), node.tree()


def test_the_same_values_written_raw_are_lost(node: Node, before: tuple[dict[str, str], str]) -> None:
    of_class = {path: value for path, value in DESIRED.items() if not path.startswith(POD)}
    assert write_raw(node, of_class) == of_class
    node.shell(UNRELATED.format(bytes=4096))
    now = kernel(node)
    assert {path for path in of_class if now[path] == of_class[path]} == set()
    node.shell(UNRELATED.format(bytes=0))


def test_they_are_set_and_a_second_run_writes_nothing(node: Node, before: tuple[dict[str, str], str]) -> None:
    assert changed(node, "--check") == 2
    assert kernel(node) == before[0]
    assert changed(node) == 2
    assert kernel(node) == DESIRED
    assert changed(node) == 0
    assert node.shell(f"systemctl is-enabled {UNIT}").strip() == "enabled"


@pytest.mark.parametrize(
    "command",
    [
        pytest.param("systemctl daemon-reload", id="daemon-reload"),
        pytest.param("systemctl daemon-reexec", id="daemon-reexec"),
        pytest.param(UNRELATED.format(bytes=4096), id="a foreign property"),
        pytest.param(
            "for unit in $(cd /sys/fs/cgroup/kubepods.slice/kubepods-besteffort.slice && ls -d *pod*.slice); do "
            "systemctl set-property --runtime $unit MemoryLow=4096; done",
            id="a foreign property of the pod",
        ),
    ],
)
def test_they_outlive(node: Node, command: str) -> None:
    node.shell(command)
    assert kernel(node) == DESIRED


def test_a_drift_is_predicted_and_repaired(node: Node) -> None:
    """Uses a file that systemd does not write: others may be restored between two runs, with kubelet's sync."""
    write_raw(node, {f"{POD}/cpu.max.burst": "0"})
    predicted = attempt(node, "--check").output
    assert re.search(r"^-\S+/kubepods-besteffort-pod\S+ cpu_burst: 0", predicted, re.MULTILINE), predicted
    assert re.search(r"^\+\S+/kubepods-besteffort-pod\S+ cpu_burst: 20000$", predicted, re.MULTILINE), predicted
    assert changed(node) == 1
    assert kernel(node) == DESIRED


def test_they_are_removed_without_a_trace(node: Node, before: tuple[dict[str, str], str]) -> None:
    node.shell(UNRELATED.format(bytes=0))
    assert changed(node, "--check", state="absent") == 2
    assert changed(node, state="absent") == 2
    assert changed(node, state="absent") == 0
    assert (kernel(node), node.tree()) == before
    assert node.shell("ls /var/lib/volcano-colocation/qos.json 2>/dev/null || true") == ""
    assert node.shell(f"systemctl list-unit-files --no-legend '{UNIT}' || true").strip() == ""
    node.shell("systemctl daemon-reload")
    assert kernel(node) == before[0]
