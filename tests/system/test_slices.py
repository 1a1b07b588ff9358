# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A slice's values by the kernel's word: they outlast everybody else, and go without a trace. In this order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.system.node import Node, Run, ansible, lab

NAME = "colocation-agents.slice"
FOLDER = "/sys/fs/cgroup/colocation.slice/colocation-agents.slice"
SETTINGS = {"CPUWeight": 300, "MemoryHigh": "256M", "TasksMax": 777}
# 256 MiB; cgroup-v2.rst: cpu.weight, memory.high, pids.max.
KERNEL = ["300", "268435456", "777"]
BESTEFFORT = {"name": "kubepods-besteffort.slice", "properties": {"MemoryHigh": "1G"}}
BESTEFFORT_HIGH = "cat /sys/fs/cgroup/kubepods.slice/kubepods-besteffort.slice/memory.high"
PLACES = (
    *("/etc/systemd/system", "/etc/systemd/system.control", "/run/systemd/system.control"),
    *("/run/systemd/transient", "/sys/fs/cgroup"),
)
V1 = "slices-v1"
V1_SPEC = ("--suite", "bookworm", "--cgroup", "v1", "--driver-kubelet", "systemd", "--driver-runtime", "systemd")


@pytest.fixture(scope="module", name="v1")
def _v1(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    lab("down", V1)
    lab("up", V1, *V1_SPEC)
    yield Node(V1, lab("inventory", V1).strip(), tmp_path_factory.mktemp("runs"))
    if not request.session.testsfailed:
        lab("down", V1)


def attempt(node: Node, *arguments: str, **options: Any) -> Run:
    playbook = str(Path(__file__).with_name("slice.yml"))
    return ansible(playbook, node.folder, "-i", node.inventory, *arguments, slice={"name": NAME, **options})


def changed(node: Node, *arguments: str, **options: Any) -> int:
    run = attempt(node, *arguments, **options)
    assert run.code == 0, run.output
    return run.recap(node.name)["changed"]


def kernel(node: Node) -> list[str]:
    return node.shell(f"cat {FOLDER}/cpu.weight {FOLDER}/memory.high {FOLDER}/pids.max").split()


def traces(node: Node) -> str:
    """Files, folders and links that name the slice, and what systemd remembers of it."""
    found = node.shell(f"find {' '.join(PLACES)} -name '*colocation-agents*' 2>/dev/null || true")
    return found + node.shell(f"systemctl list-units --all --plain --no-legend '{NAME}' '*colocation-agents*'")


def test_a_slice_is_set_once(node: Node) -> None:
    assert changed(node, "--check", properties=SETTINGS) == 1
    assert traces(node) == ""
    assert changed(node, properties=SETTINGS) == 1
    assert kernel(node) == KERNEL
    before = node.tree()
    assert changed(node, properties=SETTINGS) == 0
    assert changed(node, "--check", properties=SETTINGS) == 0
    assert node.tree() == before
    assert "enabled" in node.shell(f"systemctl is-enabled {NAME}")
    assert "verified" in node.shell(f"systemd-analyze verify {NAME} && echo verified")


def test_a_raw_write_is_lost_and_the_value_is_not(node: Node) -> None:
    node.shell(f"echo 111 > {FOLDER}/cpu.weight")
    assert kernel(node)[0] == "111"
    # A daemon-reload alone does not write it again (systemd 257), a change of any property does.
    node.shell(f"systemctl set-property --runtime {NAME} IOAccounting=yes; sleep 1")
    assert kernel(node) == KERNEL
    node.shell("systemctl daemon-reload; sleep 1")
    assert kernel(node) == KERNEL


def test_another_value_takes_no_reload(node: Node) -> None:
    stamp = "systemctl show --property=UnitsLoadFinishTimestampMonotonic --value"
    before = node.shell(stamp)
    wanted = {**SETTINGS, "CPUWeight": 400, "TasksMax": None}
    assert changed(node, properties=wanted) == 1
    assert kernel(node) == ["400", "268435456", "max"]
    assert node.shell(stamp) == before
    node.shell("systemctl daemon-reload; sleep 1")
    assert kernel(node) == ["400", "268435456", "max"]
    assert changed(node, properties=SETTINGS) == 1
    assert kernel(node) == KERNEL


def test_restricted_cpus_are_given_back_under_a_running_process(node: Node) -> None:
    node.shell(f"systemd-run --quiet --unit=occupant --slice={NAME} sleep 600")
    assert changed(node, properties={**SETTINGS, "AllowedCPUs": "0"}) == 1
    assert node.shell(f"cat {FOLDER}/cpuset.cpus.effective").split() == ["0"]
    all_cpus = node.shell("cat /sys/fs/cgroup/cpuset.cpus.effective")
    assert changed(node, properties=SETTINGS) == 1
    effective = f"if [ -e {FOLDER}/cpuset.cpus.effective ]; then cat {FOLDER}/cpuset.cpus.effective; fi"
    assert node.shell(effective) in ("", all_cpus)
    node.shell("systemctl stop occupant")


def test_a_set_property_that_outranks_us_is_refused(node: Node) -> None:
    node.shell(f"systemctl set-property {NAME} CPUWeight=50")
    before = node.tree()
    run = attempt(node, properties=SETTINGS)
    assert run.code != 0
    assert f"/etc/systemd/system.control/{NAME}.d/50-CPUWeight.conf" in run.output
    assert f"systemctl revert {NAME}" in run.output
    assert node.tree() == before
    node.shell(f"systemctl revert {NAME}")
    assert changed(node, properties=SETTINGS) in (0, 1)
    assert kernel(node) == KERNEL


def test_kubelets_own_slice_takes_what_kubelet_does_not_set(node: Node) -> None:
    assert changed(node, **BESTEFFORT) == 1
    node.shell("systemctl daemon-reload; systemctl restart kubelet; sleep 1")
    assert node.shell(BESTEFFORT_HIGH).strip() == "1073741824"


def test_after_a_reboot_all_is_there_before_kubelet(node: Node) -> None:
    lab("reboot", node.name)
    assert kernel(node) == KERNEL
    show = "systemctl show --property=ActiveEnterTimestampMonotonic --value"
    slice_up, kubelet_up = (int(node.shell(f"{show} {unit}")) for unit in (NAME, "kubelet.service"))
    assert 0 < slice_up < kubelet_up
    assert changed(node, properties=SETTINGS) == 0
    assert node.shell(BESTEFFORT_HIGH).strip() == "1073741824"
    assert changed(node, **BESTEFFORT) == 0


def test_kubelets_own_slice_is_given_back(node: Node) -> None:
    assert changed(node, name=BESTEFFORT["name"], state="absent") == 1
    assert node.shell(BESTEFFORT_HIGH).strip() == "max"
    assert node.shell("find /etc/systemd /run/systemd -path '*kubepods-besteffort*volcano*'") == ""


def test_with_a_process_in_it_it_stays(node: Node) -> None:
    node.shell(f"systemd-run --quiet --unit=occupant --slice={NAME} sleep 600")
    before = node.tree()
    run = attempt(node, state="absent")
    assert run.code != 0
    assert re.search(r"cannot be removed: process \d+ is in it", run.output)
    assert node.tree() == before
    assert node.shell("systemctl is-active occupant").strip() == "active"
    node.shell("systemctl stop occupant")


def test_removal_leaves_no_trace(node: Node) -> None:
    assert changed(node, "--check", state="absent") == 1
    assert changed(node, state="absent") == 1
    assert traces(node) == ""
    assert changed(node, state="absent") == 0


def test_on_v1_it_is_in_every_controller_after_a_reboot_too(v1: Node) -> None:
    wanted = {"controllers": ["cpu", "cpuset", "memory", "pids"], "properties": {"CPUWeight": 300, "MemoryMax": "256M"}}
    there = [
        # 300 * 1024 / 100: systemd src/core/cgroup.c.
        ("cpu", "cpu.shares", "3072"),
        ("memory", "memory.limit_in_bytes", "268435456"),
        ("cpuset", "cpuset.mems", "0"),
        ("pids", "pids.max", "max"),
    ]
    folder = "colocation.slice/colocation-agents.slice"
    command = "cat " + " ".join(f"/sys/fs/cgroup/{controller}/{folder}/{file}" for controller, file, _value in there)
    assert changed(v1, **wanted) == 1
    assert changed(v1, **wanted) == 0
    assert v1.shell(command).split() == [value for _controller, _file, value in there]
    lab("reboot", v1.name)
    assert v1.shell(command).split() == [value for _controller, _file, value in there]
    assert changed(v1, **wanted) == 0
    assert changed(v1, state="absent") == 1
    assert traces(v1) == ""
