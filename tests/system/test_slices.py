# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A slice's values in the kernel survive changes by other programs, and are removed completely. In this order."""

from __future__ import annotations

import re

from ansible_collections.volcano.colocation.tests.system.node import Node, lab
from ansible_collections.volcano.colocation.tests.system.slices import NAME, attempt, changed, traces

DIRECTORY = "/sys/fs/cgroup/colocation.slice/colocation-agents.slice"
SETTINGS = {"CPUWeight": 300, "MemoryHigh": "256M", "TasksMax": 777}
# 256 MiB; cgroup-v2.rst: cpu.weight, memory.high, pids.max.
KERNEL = ["300", "268435456", "777"]
BESTEFFORT = {"name": "kubepods-besteffort.slice", "properties": {"MemoryHigh": "1G"}}
BESTEFFORT_HIGH = "cat /sys/fs/cgroup/kubepods.slice/kubepods-besteffort.slice/memory.high"


def kernel(node: Node) -> list[str]:
    return node.shell(f"cat {DIRECTORY}/cpu.weight {DIRECTORY}/memory.high {DIRECTORY}/pids.max").split()


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
    node.shell(f"echo 111 > {DIRECTORY}/cpu.weight")
    assert kernel(node)[0] == "111"
    # A daemon-reload alone does not write it again (systemd 257), a change of any property does.
    node.shell(f"systemctl set-property --runtime {NAME} IOAccounting=yes; sleep 1")
    assert kernel(node) == KERNEL
    node.shell("systemctl daemon-reload; sleep 1")
    assert kernel(node) == KERNEL


def test_another_value_takes_no_reload(node: Node) -> None:
    stamp = "systemctl show --property=UnitsLoadFinishTimestampMonotonic --value"
    before = node.shell(stamp)
    desired = {**SETTINGS, "CPUWeight": 400, "TasksMax": None}
    assert changed(node, properties=desired) == 1
    assert kernel(node) == ["400", "268435456", "max"]
    assert node.shell(stamp) == before
    node.shell("systemctl daemon-reload; sleep 1")
    assert kernel(node) == ["400", "268435456", "max"]
    assert changed(node, properties=SETTINGS) == 1
    assert kernel(node) == KERNEL


def test_restricted_cpus_are_given_back_under_a_running_process(node: Node) -> None:
    node.shell(f"systemd-run --quiet --unit=occupant --slice={NAME} sleep 600")
    assert changed(node, properties={**SETTINGS, "AllowedCPUs": "0"}) == 1
    assert node.shell(f"cat {DIRECTORY}/cpuset.cpus.effective").split() == ["0"]
    all_cpus = node.shell("cat /sys/fs/cgroup/cpuset.cpus.effective")
    assert changed(node, properties=SETTINGS) == 1
    effective = f"if [ -e {DIRECTORY}/cpuset.cpus.effective ]; then cat {DIRECTORY}/cpuset.cpus.effective; fi"
    assert node.shell(effective) in ("", all_cpus)
    node.shell("systemctl stop occupant")


def test_a_set_property_with_precedence_is_refused(node: Node) -> None:
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


def test_what_a_site_set_on_a_slice_of_systemd_comes_back(node: Node) -> None:
    weight = "cat /sys/fs/cgroup/user.slice/cpu.weight"
    site = "/etc/systemd/system/user.slice.d/10-site.conf"
    node.shell(f"mkdir -p $(dirname {site}); printf '[Slice]\\nCPUWeight=50\\n' > {site}; systemctl daemon-reload")
    node.shell("systemctl start user.slice; sleep 1")
    before = node.tree()
    assert changed(node, name="user.slice", properties={"CPUWeight": 300}) == 1
    assert node.shell(weight).strip() == "300"
    assert changed(node, name="user.slice", state="absent") == 1
    assert node.shell(weight).strip() == "50"
    assert node.tree() == before
    assert node.shell("find /run/systemd -path '*user.slice.d*'") == ""

    node.shell("systemctl set-property --runtime user.slice CPUWeight=70")
    run = attempt(node, name="user.slice", properties={"CPUWeight": 300})
    assert run.code != 0
    assert "systemctl revert user.slice" in run.output
    assert node.shell(weight).strip() == "70"
    node.shell(f"systemctl revert user.slice; rm -rf $(dirname {site}); systemctl daemon-reload")


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
