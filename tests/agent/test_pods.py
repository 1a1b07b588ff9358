# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What agents write to the cgroups of online and offline pods, and only there."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from ansible_collections.volcano.colocation.tests.agent.field import NODES, Field
from ansible_collections.volcano.colocation.tests.agent.workloads import (
    OFFLINE_MEMORY,
    SPACE,
    Workload,
    settings_of,
)
from ansible_collections.volcano.colocation.tests.volcano.cluster import eventually

Pods = Mapping[str, Workload]
V2 = [name for name, kind in NODES.items() if kind[1] == "v2"]


@pytest.mark.parametrize("name", NODES)
def test_an_offline_pod_gets_its_batch_resources(field: Field, offline_pods: Pods, name: str) -> None:
    """Of the pod and its container; 200 thousandths of a CPU."""
    pod = offline_pods[name]
    share = {"v1": "204", "v2": "20"}[NODES[name][1]]
    eventually(lambda: pod.share() == [share] * 2, lambda: f"{pod.share()} {field.log(name)}")
    eventually(lambda: pod.quota() == ["20000"] * 2, lambda: f"{pod.quota()} {field.log(name)}")
    eventually(lambda: pod.memory_limit() == [str(OFFLINE_MEMORY)] * 2, lambda: f"{pod.memory_limit()}")


@pytest.mark.parametrize("name", V2)
def test_the_memory_of_an_offline_pod_is_protected_and_throttled(offline_pods: Pods, name: str) -> None:
    """MemoryQoSV2 writes to containers only."""
    pod = offline_pods[name]
    eventually(
        lambda: pod.values("memory.high") == ["max", share_of_memory(80)], lambda: str(pod.values("memory.high"))
    )
    eventually(lambda: pod.values("memory.low") == ["0", share_of_memory(50)], lambda: str(pod.values("memory.low")))
    eventually(lambda: pod.values("memory.min") == ["0", share_of_memory(25)], lambda: str(pod.values("memory.min")))


def share_of_memory(percent: int) -> str:
    return str(OFFLINE_MEMORY * percent // 100)


@pytest.mark.parametrize("name", NODES)
def test_an_online_pod_with_a_limit_gets_its_burst_and_nothing_else(field: Field, online_pods: Pods, name: str) -> None:
    pod = online_pods[name]
    eventually(lambda: pod.burst() == ["5000"] * 2, lambda: f"{pod.burst()} {field.log(name)}")
    assert pod.quota() == ["100000"] * 2
    assert pod.share() == [{"v1": "1024", "v2": "100"}[NODES[name][1]]] * 2


@pytest.mark.parametrize("name", NODES)
def test_burst_of_an_offline_pod_comes_with_its_second_event(field: Field, offline_pods: Pods, name: str) -> None:
    """Upstream's defect: CPUBurst runs before Resources, and skips cgroups that have no quota yet."""
    pod = offline_pods[name]
    eventually(lambda: pod.quota() == ["20000"] * 2, lambda: field.log(name))
    assert pod.burst() == ["0", "0"]
    manifest = {"kind": "Pod", "metadata": {"name": pod.name, "namespace": SPACE}}
    field.cluster.patch(manifest, {"metadata": {"annotations": {"test/event": "second"}}})
    eventually(lambda: pod.burst() == ["5000"] * 2, lambda: f"{pod.burst()} {field.log(name)}")


@pytest.mark.parametrize("name", NODES)
def test_the_agent_writes_to_no_other_cgroup(
    field: Field, settings_before_pods: Mapping[str, Mapping[str, str]], offline_pods: Pods, name: str
) -> None:
    """Every file of the tree that existed before, except the quota of the BestEffort class, is as it was."""
    pod, before = offline_pods[name], settings_before_pods[name]
    eventually(lambda: pod.memory_limit() == [str(OFFLINE_MEMORY)] * 2)
    after = settings_of(field, name)
    changed = {path for path, text in before.items() if after.get(path) != text}
    assert {path.rpartition("/")[2] for path in changed} <= {"cpu.max", "cpu.cfs_quota_us"}
    assert all("besteffort" in path.split("/")[-2] for path in changed), changed
