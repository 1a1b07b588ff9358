# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What agents do when the load rises and falls: throttling, a taint, evictions, and the return of capacity.

The new agents get other watermarks from the role while they run. One old Node has the load of the new ones.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.agent.field import BATCH_CPU, NODES, TIMEOUT, Field
from ansible_collections.volcano.colocation.tests.agent.machines import Load
from ansible_collections.volcano.colocation.tests.agent.workloads import SPACE, Workload, besteffort_quota
from ansible_collections.volcano.colocation.tests.lab.cluster.volcano import NAMESPACE
from ansible_collections.volcano.colocation.tests.volcano.cluster import eventually

Pods = Mapping[str, Workload]
WATERMARKS = {"cpu_high": 50, "cpu_low": 20}
"""Of the new agents; those of the old ones are upstream's, 80 and 30."""
HIGH, HIGHER, LOW = Load(burstable=2400), Load(burstable=3700), Load(burstable=300)
NEW = [name for name, kind in NODES.items() if kind[0] == "new"]
CONTROL = "old-v1-cgroupfs"
PRESSED = [name for name in NODES if name != CONTROL]
LEAST_QUOTA = "1000"
RETURNED = 1000
"""Thousandths of a CPU, more than any Node offers under load. An agent weighs its last measurement with one half."""


@dataclass(frozen=True)
class Times:
    """Seconds after the load rose until each Node had its taint, had evicted its pod and throttled the class."""

    tainted: Mapping[str, float]
    evicted: Mapping[str, float]
    throttled: Mapping[str, float]


@dataclass(frozen=True)
class Reconfigured:
    """Processes of the agents before the role changed their watermarks."""

    processes: Mapping[str, Path]


@pytest.fixture(scope="module", name="reconfigured")
def _reconfigured(field: Field, offline_pods: Pods, online_pods: Pods) -> Reconfigured:
    processes = {name: field.process(name) for name in NODES}
    run = field.role("new", colocation_agent_pools=[{"name": "new", "nodes": NEW, "watermarks": WATERMARKS}], nodes=NEW)
    assert run.code == 0, run.output
    return Reconfigured(processes)


@pytest.fixture(scope="module", name="pressed")
def _pressed(field: Field, reconfigured: Reconfigured, offline_pods: Pods) -> Times:
    """The load rises on all Nodes at the same time; the times at which their agents acted, for docs/agent.md."""
    for name, machine in field.machines.items():
        machine.load(HIGHER if name in PRESSED and NODES.get(name, ("",))[0] == "old" else HIGH)
    times: tuple[dict[str, float], ...] = ({}, {}, {})
    began = time.monotonic()
    while any(len(one) < len(PRESSED) for one in times[:2]) and time.monotonic() - began < TIMEOUT:
        for name in PRESSED:
            observed = (
                field.is_tainted(name),
                not offline_pods[name].exists(),
                besteffort_quota(field, name) == LEAST_QUOTA,
            )
            for one, happened in zip(times, observed, strict=True):
                if happened:
                    one.setdefault(name, round(time.monotonic() - began, 1))
        time.sleep(0.5)
    for label, seconds in zip(("taint", "eviction", "least quota"), times, strict=True):
        print(f"seconds until {label}: {json.dumps(seconds)}")
    return Times(*times)


@pytest.fixture(scope="module", name="control")
def _control(field: Field, pressed: Times, offline_pods: Pods) -> bool:
    """Whether the Node with the same load and other watermarks was left alone all the time."""
    return offline_pods[CONTROL].exists() and not field.is_tainted(CONTROL)


@pytest.fixture(scope="module", name="relieved")
def _relieved(field: Field, control: bool) -> Mapping[str, float]:
    """The load falls on all Nodes, and rises further on the one that was left alone; seconds until taints are gone."""
    for name, machine in field.machines.items():
        machine.load(HIGHER if name == CONTROL else LOW)
    relieved: dict[str, float] = {}
    began = time.monotonic()
    while len(relieved) < len(PRESSED) and time.monotonic() - began < TIMEOUT:
        for name in PRESSED:
            if not field.is_tainted(name) and (field.amount(name, BATCH_CPU) or 0) > RETURNED:
                relieved.setdefault(name, round(time.monotonic() - began, 1))
        time.sleep(0.5)
    print(f"seconds until capacity: {json.dumps(relieved)}")
    return relieved


@pytest.mark.parametrize("name", PRESSED)
def test_an_offline_pod_is_evicted_above_the_watermark_and_no_other_follows_it(
    field: Field, pressed: Times, online_pods: Pods, name: str
) -> None:
    """The taint keeps new offline pods away; the online pod stays."""
    assert name in pressed.tainted, field.log(name)
    assert name in pressed.evicted, field.log(name)
    assert online_pods[name].exists()
    reasons = {
        event["reason"]
        for event in field.cluster.items("Event", SPACE)
        if event["involvedObject"]["name"] == f"offline-{name}"
    }
    assert "Evicted" in reasons


@pytest.mark.parametrize("name", PRESSED)
def test_offline_pods_are_throttled_before_they_are_evicted(pressed: Times, name: str) -> None:
    """The class gets its least quota: what is left of 80 % of the CPUs is nothing."""
    assert pressed.throttled[name] < pressed.evicted[name]


def test_watermarks_of_the_role_reach_running_agents_of_their_pool_only(
    field: Field, reconfigured: Reconfigured, control: bool
) -> None:
    """A load of 60 % evicts at a watermark of 50, and not at 80; no agent was started again."""
    assert control, field.log(CONTROL)
    assert {name: field.process(name) for name in NODES} == reconfigured.processes


@pytest.mark.parametrize("name", PRESSED)
def test_capacity_returns_after_the_load(field: Field, relieved: Mapping[str, float], name: str) -> None:
    assert name in relieved, field.log(name)


def test_the_same_node_evicts_above_its_own_watermark(
    field: Field, relieved: Mapping[str, float], offline_pods: Pods
) -> None:
    eventually(lambda: not offline_pods[CONTROL].exists(), lambda: field.log(CONTROL), TIMEOUT)
    assert field.is_tainted(CONTROL)


def test_wrong_watermarks_are_refused_before_they_are_written(field: Field, reconfigured: Reconfigured) -> None:
    before = field.cluster.get("ConfigMap", "volcano-agent-configuration", NAMESPACE)
    pools = [{"name": "new", "nodes": NEW}]
    wrong = {"cpu_high": 30, "cpu_low": 60}
    run = field.role("new", nodes=NEW, colocation_agent_pools=pools, colocation_agent_watermarks=wrong)
    assert run.code != 0
    assert "evictingCPULowWatermark 60 has to be less than evictingCPUHighWatermark 30" in run.output
    assert field.cluster.get("ConfigMap", "volcano-agent-configuration", NAMESPACE) == before
