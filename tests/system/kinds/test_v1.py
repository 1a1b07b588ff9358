# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""On cgroup v1 a slice exists in each requested controller, and all changes are rolled back.

The same applies to every setting; a burst has an effect, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.system import burst, knobs
from ansible_collections.volcano.colocation.tests.system.everything import (
    ATTRIBUTES,
    MANAGED,
    await_kubelet,
    cgroups,
    state,
)
from ansible_collections.volcano.colocation.tests.system.node import Node, lab, throwaway
from ansible_collections.volcano.colocation.tests.system.pods import QOS_CLASSES, qos_classes
from ansible_collections.volcano.colocation.tests.system.slices import changed, traces

NAME = "v1"
SPEC = ("--suite", "bookworm", "--cgroup", "v1", "--driver-kubelet", "systemd", "--driver-runtime", "systemd")
PROFILE: dict[str, Any] = {
    "colocation_cgroup_driver": "cgroupfs",
    "colocation_nri_unsupported": "skip",
    "colocation_qos": {"be": {"cpu_quota": "60%", "memory_max": "80%"}},
}
KUBELET = "/var/lib/kubelet/config.yaml"


@pytest.fixture(scope="module", name="v1")
def _v1(request: pytest.FixtureRequest) -> Iterator[Node]:
    yield from throwaway(request, NAME, *SPEC)


def test_a_slice_is_in_every_controller_after_a_reboot_too(v1: Node) -> None:
    desired = {
        "controllers": ["cpu", "cpuset", "memory", "pids"],
        "properties": {"CPUWeight": 300, "MemoryMax": "256M"},
    }
    expected = [
        # 300 * 1024 / 100: systemd src/core/cgroup.c.
        ("cpu", "cpu.shares", "3072"),
        ("memory", "memory.limit_in_bytes", "268435456"),
        ("cpuset", "cpuset.mems", "0"),
        ("pids", "pids.max", "max"),
    ]
    directory = "colocation.slice/colocation-agents.slice"
    command = "cat " + " ".join(
        f"/sys/fs/cgroup/{controller}/{directory}/{file}" for controller, file, _value in expected
    )
    assert changed(v1, **desired) == 1
    assert changed(v1, **desired) == 0
    assert v1.shell(command).split() == [value for _controller, _file, value in expected]
    lab("reboot", v1.name)
    assert v1.shell(command).split() == [value for _controller, _file, value in expected]
    assert changed(v1, **desired) == 0
    assert changed(v1, state="absent") == 1
    assert traces(v1) == ""


def test_every_setting_is_set_read_and_restored(v1: Node) -> None:
    knobs.check_all(v1, "v1")


def test_with_a_burst_an_online_pod_is_throttled_less_often(v1: Node) -> None:
    periods = burst.compare(v1, "v1")
    assert burst.is_proof(periods), periods


def test_after_provision_and_restore_everything_is_as_it_was(v1: Node) -> None:
    v1.shell(f'python3 -c \'import os; os.setxattr("{KUBELET}", "user.site", b"kept")\'')
    await_kubelet(v1, "systemd")
    before = state(v1)
    assert f"{KUBELET} user.site b'kept'" in before["attributes"]

    run = v1.ansible("provision", **PROFILE)
    assert run.code == 0, run.output[-4000:]
    assert changed(v1, controllers=["cpu", "memory"], properties={"CPUWeight": 300}) == 1
    assert qos_classes(v1.containers(), "cgroupfs") == QOS_CLASSES
    assert cgroups(v1) != before["cgroups"]
    assert f"{KUBELET} user.site b'kept'" in v1.shell(ATTRIBUTES)

    run = v1.ansible("restore", "--diff")
    assert run.code == 0, run.output[-4000:]
    await_kubelet(v1, "systemd")
    now = state(v1)
    for what, text in before.items():
        assert now[what] == text, what
    assert v1.shell(MANAGED).strip() == ""
    assert traces(v1) == ""

    run = v1.ansible("restore")
    assert run.code == 0
    assert run.recap(v1.name)["changed"] == 0
