# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes that are switched off, and the removal of all agents while they refuse their configuration."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from ansible_collections.volcano.colocation.tests.agent import workloads
from ansible_collections.volcano.colocation.tests.agent.field import (
    BATCH_CPU,
    BATCH_MEMORY,
    COLOCATION,
    MACHINES,
    NODES,
    OVERSUBSCRIPTION,
    TIMEOUT,
    Field,
    nodes_of,
)
from ansible_collections.volcano.colocation.tests.agent.machines import Load
from ansible_collections.volcano.colocation.tests.agent.workloads import Workload, besteffort_quota
from ansible_collections.volcano.colocation.tests.lab.cluster.volcano import NAMESPACE
from ansible_collections.volcano.colocation.tests.system.node import Run
from ansible_collections.volcano.colocation.tests.volcano.cluster import eventually

Pods = Mapping[str, Workload]
USED, UNUSED = ("new-v2-systemd", "old-v1-systemd"), ("new-v1-cgroupfs", "old-v2-cgroupfs")
"""Nodes of each release that are switched off: with a pod that uses oversubscribed resources, and with another one.

On one Node, the agent would evict both pods: it evicts any offline pod until none uses them.
"""
OFF = (*USED, *UNUSED)
CONFIG_MAP, KEY = "volcano-agent-configuration", "colocation-config"


@pytest.fixture(scope="module", name="offline")
def _offline(field: Field, deployed: object) -> Pods:
    """An offline pod on each of these Nodes, which have a low load."""
    for machine in field.machines.values():
        machine.load(Load(burstable=300))
    makers = {**dict.fromkeys(USED, workloads.offline), **dict.fromkeys(UNUSED, workloads.best_effort)}
    for name in OFF:
        _wait_for_no_taint(field, name)
    field.cluster.create(*(make(f"last-{name}", name) for name, make in makers.items()))
    return {name: workloads.running(field, name, f"last-{name}") for name in OFF}


def _wait_for_no_taint(field: Field, name: str) -> None:
    eventually(lambda: not field.is_tainted(name), lambda: field.log(name), TIMEOUT)


@pytest.fixture(scope="module", name="switched_off")
def _switched_off(field: Field, offline: Pods) -> None:
    for name in OFF:
        node = {"kind": "Node", "metadata": {"name": name}}
        field.cluster.patch(node, {"metadata": {"labels": {COLOCATION: None, OVERSUBSCRIPTION: None}}})


@pytest.mark.usefixtures("switched_off")
@pytest.mark.parametrize("name", OFF)
def test_a_node_that_is_switched_off_offers_nothing_and_does_not_limit_the_class(field: Field, name: str) -> None:
    eventually(lambda: field.amount(name, BATCH_CPU) is None, lambda: field.log(name), TIMEOUT)
    assert field.amount(name, BATCH_MEMORY) is None
    unlimited = {"v1": "-1", "v2": "max"}[NODES[name][1]]
    eventually(lambda: besteffort_quota(field, name) == unlimited, lambda: field.log(name), TIMEOUT)


@pytest.mark.usefixtures("switched_off")
@pytest.mark.parametrize("name", USED)
def test_pods_that_use_oversubscribed_resources_are_evicted_from_it(field: Field, offline: Pods, name: str) -> None:
    eventually(lambda: not offline[name].exists(), lambda: field.log(name), TIMEOUT)


@pytest.mark.usefixtures("switched_off")
@pytest.mark.parametrize("name", UNUSED)
def test_other_offline_pods_and_the_agent_stay_on_it(field: Field, offline: Pods, name: str) -> None:
    eventually(lambda: field.amount(name, BATCH_CPU) is None, lambda: field.log(name), TIMEOUT)
    assert offline[name].exists()
    agent = field.kubelet.agent_on(name)
    assert agent
    assert agent.ready


@pytest.fixture(scope="module", name="removed")
def _removed(field: Field, switched_off: None) -> Run:
    """The role's run, while the current configuration is one that agents refuse."""
    config_map = field.cluster.get("ConfigMap", CONFIG_MAP, NAMESPACE)
    assert config_map
    document = json.loads(config_map["data"][KEY])
    document["globalConfig"]["evictingConfig"] = {"evictingCPUHighWatermark": 30, "evictingCPULowWatermark": 60}
    manifest = {"kind": "ConfigMap", "metadata": {"name": CONFIG_MAP, "namespace": NAMESPACE}}
    field.cluster.patch(manifest, {"data": {KEY: json.dumps(document)}})
    run = field.role(
        "new",
        nodes=[*nodes_of("new"), *nodes_of("old")],
        colocation_agent_state="absent",
        colocation_agent_pools=[],
        colocation_agent_timeout=20,
    )
    assert run.code == 0, run.output
    return run


@pytest.mark.usefixtures("removed")
@pytest.mark.parametrize("name", MACHINES)
def test_nodes_have_nothing_of_the_agent_after_its_removal(field: Field, name: str) -> None:
    node = field.node(name)
    managed = {key for key in node["metadata"]["labels"] if "volcano" in key}
    assert not managed
    assert not {key for key in node["metadata"]["annotations"] if "volcano" in key}
    assert not field.is_tainted(name)
    amounts = {*node["status"]["allocatable"], *node["status"]["capacity"]}
    assert not amounts & {BATCH_CPU, BATCH_MEMORY}
    assert field.kubelet.agent_on(name) is None


@pytest.mark.usefixtures("removed")
def test_nothing_else_of_the_agent_remains(field: Field) -> None:
    assert field.cluster.items("DaemonSet", NAMESPACE) == []
    assert field.cluster.get("ServiceAccount", "volcano-colocation-agent", NAMESPACE) is None


def test_the_removal_reports_agents_that_did_not_clean_up(removed: Run) -> None:
    assert "agents still offered resources on" in removed.output


def test_values_of_another_client_stay_and_are_reported(field: Field, removed: Run) -> None:
    config_map = field.cluster.get("ConfigMap", CONFIG_MAP, NAMESPACE)
    assert config_map
    document = json.loads(config_map["data"][KEY])
    assert document["globalConfig"]["evictingConfig"] == {
        "evictingCPUHighWatermark": 30,
        "evictingCPULowWatermark": 60,
    }
    assert "nodesConfig" not in document
