# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A hybrid node: v1 limits resources, and systemd has a v2 hierarchy beside it. In this order."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.system.everything import MANAGED, await_kubelet, cgroups, state
from ansible_collections.volcano.colocation.tests.system.node import Node, throwaway
from ansible_collections.volcano.colocation.tests.system.pods import QOS_CLASSES, qos_classes

NAME = "hybrid"
SPEC = ("--suite", "bookworm", "--cgroup", "hybrid", "--driver-kubelet", "cgroupfs", "--driver-runtime", "cgroupfs")
PROFILE: dict[str, Any] = {
    "colocation_nri_unsupported": "skip",
    "colocation_qos": {"be": {"cpu_quota": "60%", "pids_max": "3000"}},
}
CLASS = "kubepods.slice/kubepods-besteffort.slice"
# 60 % of the two CPUs minus the reserved half CPU.
DESIRED = {
    f"/sys/fs/cgroup/cpu/{CLASS}/cpu.cfs_quota_us": "90000",
    f"/sys/fs/cgroup/pids/{CLASS}/pids.max": "3000",
}


@pytest.fixture(scope="module", name="hybrid")
def _hybrid(request: pytest.FixtureRequest) -> Iterator[Node]:
    yield from throwaway(request, NAME, *SPEC)


@pytest.fixture(scope="module", name="before")
def _before(hybrid: Node) -> dict[str, str]:
    await_kubelet(hybrid, "cgroupfs")
    return state(hybrid)


def kernel(node: Node) -> dict[str, str]:
    return dict(zip(DESIRED, node.shell(f"cat {' '.join(DESIRED)}").split(), strict=True))


def test_both_hierarchies_are_named(hybrid: Node, before: dict[str, str], tmp_path: Path) -> None:
    mounts = {line.split()[1]: line.split()[2] for line in hybrid.shell("cat /proc/mounts").splitlines()}
    assert mounts["/sys/fs/cgroup/unified"] == "cgroup2"
    assert mounts["/sys/fs/cgroup/memory"] == "cgroup"
    run = hybrid.ansible("assess", colocation_report_directory=str(tmp_path))
    assert run.code == 0, run.output
    facts = json.loads((tmp_path / f"{NAME}.json").read_text())
    assert facts["cgroup"]["mode"] == "hybrid"
    assert {"cpu", "cpuset", "memory", "pids"} <= set(facts["cgroup"]["controllers"])
    assert (facts["kubelet"]["cgroup_driver"], facts["runtime"]["cgroup_driver"]) == ("cgroupfs", "cgroupfs")
    assert state(hybrid) == before


def test_it_is_provisioned_with_its_qos_settings(hybrid: Node) -> None:
    assert qos_classes(hybrid.containers(), "cgroupfs") == QOS_CLASSES
    run = hybrid.ansible("provision", **PROFILE)
    assert run.code == 0, run.output[-4000:]
    assert qos_classes(hybrid.containers(), "systemd") == QOS_CLASSES
    assert kernel(hybrid) == DESIRED
    assert hybrid.ansible("verify", **PROFILE).code == 0
    hybrid.shell("systemctl daemon-reload")
    await_kubelet(hybrid, "systemd")
    assert kernel(hybrid) == DESIRED

    services, values = hybrid.services(), cgroups(hybrid)
    again = hybrid.ansible("provision", **PROFILE)
    assert again.code == 0, again.output[-4000:]
    assert again.recap(NAME)["changed"] == 0
    assert (hybrid.services(), cgroups(hybrid)) == (services, values)


def test_restore_brings_all_of_it_back(hybrid: Node, before: dict[str, str]) -> None:
    run = hybrid.ansible("restore")
    assert run.code == 0, run.output[-4000:]
    await_kubelet(hybrid, "cgroupfs")
    now = state(hybrid)
    for what, text in before.items():
        assert now[what] == text, what
    assert hybrid.shell(MANAGED).strip() == ""
