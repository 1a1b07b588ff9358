# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""ConfigMaps and objects that an older version left in a cluster: unchanged, changed and restored by this version."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.agent import colocation_config as agent_journal
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.installed_agent import AgentState
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.uninstall_plan import plan_uninstall
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.objects import ConfigMap, Ref
from ansible_collections.volcano.colocation.plugins.plugin_utils.kubeadm import (
    kubelet_config_journal as kubeadm_journal,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.kubeadm.cluster_plan import (
    plan_cluster,
    plan_cluster_restore,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.kubeadm.play_hosts import ConfigMapPermission
from ansible_collections.volcano.colocation.tests.support.clusters import agent_clusters, kubeadm_clusters
from ansible_collections.volcano.colocation.tests.support.clusters.manifest_api_server import Cluster
from ansible_collections.volcano.colocation.tests.support.clusters.volcano_clusters import UID
from ansible_collections.volcano.colocation.tests.support.recorded_states import STATES, fill, recording
from ansible_collections.volcano.colocation.tests.unit.action import test_scheduler_config as schedulers
from ansible_collections.volcano.colocation.tests.unit.action.test_manifest_apply import Task_
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.agent import test_install_plan as plans

AUTO = ConfigMapPermission(None)
RUNS = [(state, run) for state in STATES for run in ("first", "second")]


def cut_off(name: str) -> list[tuple[str, str]]:
    """The number of writes after which the runs of each version were interrupted."""
    return [(state, cut) for state in STATES for cut in recording(state, name)["interrupted"]]


# kubelet-config


@pytest.mark.parametrize(("state", "run"), RUNS)
def test_kubelet_config_is_restored_to_the_original(state: str, run: str) -> None:
    recorded = recording(state, "kubeadm")
    current = kubeadm_clusters.config_map(recorded[run]["text"], recorded[run]["version"])
    journal = kubeadm_journal.parse_journal(
        ConfigMap("volcano-colocation", recorded[run]["journal"], "9", "kube-system")
    )
    cluster = kubeadm_clusters.kubeadm_state("a", stored=current, journal=journal)
    back = plan_cluster_restore([kubeadm_clusters.host("a")], cluster, AUTO)
    assert (back.after, back.forget) == (recorded["original"], True)


@pytest.mark.parametrize(("state", "run"), RUNS)
def test_kubelet_config_is_changed_and_restored(state: str, run: str) -> None:
    recorded = recording(state, "kubeadm")
    current = kubeadm_clusters.config_map(recorded[run]["text"], recorded[run]["version"])
    journal = kubeadm_journal.parse_journal(
        ConfigMap("volcano-colocation", recorded[run]["journal"], "9", "kube-system")
    )
    same = kubeadm_clusters.host("a", fields=kubeadm_clusters.DESIRED)
    assert (
        plan_cluster([same], kubeadm_clusters.kubeadm_state("a", stored=current, journal=journal), AUTO).after is None
    )
    other = kubeadm_clusters.host("a", fields={**kubeadm_clusters.DESIRED, kubeadm_clusters.CPU: "2"})
    changed = plan_cluster([other], kubeadm_clusters.kubeadm_state("a", stored=current, journal=journal), AUTO)
    assert changed.after is not None
    assert "cpu: '2'" in changed.after or 'cpu: "2"' in changed.after
    after = kubeadm_clusters.config_map(changed.after, "7")
    observed = kubeadm_clusters.kubeadm_state("a", stored=after, journal=changed.journal)
    assert plan_cluster_restore([kubeadm_clusters.host("a")], observed, AUTO).after == recorded["original"]


# The agent


def cluster(document: Mapping[str, Any]) -> AgentState:
    """The observed state of a recorded cluster."""
    nodes = plans.cluster().nodes
    return AgentState(
        tuple(replace(node, labels=document["labels"][node.name]) for node in nodes),
        {Ref.of(item): item for item in document["objects"]},
        tuple(document["daemon_sets"]),
        config_map=document["config_map"],
        journal=agent_journal.parse_journal(document["journal"]),
    )


def test_the_agent_is_unchanged_and_removed(state: str) -> None:
    recorded = recording(state, "agent")
    before, after = cluster(recorded["before"]), cluster(recorded["after"])
    assert plans.plan(after).steps == ()
    assert plans.label(after).steps == ()
    assert plans.apply_steps(after, plan_uninstall(after, plans.SPACE, plans.GRANTED).steps) == before


def test_the_agent_is_changed_and_removed(state: str) -> None:
    recorded = recording(state, "agent")
    before, after = cluster(recorded["before"]), cluster(recorded["after"])
    steps = plans.plan(after, agent_clusters.options(watermarks={"cpu_high": 70})).steps
    assert steps
    changed = plans.apply_steps(after, steps)
    assert json.loads(changed.text or "") != json.loads(after.text or "")
    assert plans.apply_steps(changed, plan_uninstall(changed, plans.SPACE, plans.GRANTED).steps) == before


def test_an_installation_that_was_cut_off_is_finished_and_goes_again(state: str) -> None:
    states = recording(state, "agent")
    cut = cluster(states["interrupted"])
    done = plans.apply_steps(cut, plans.plan(cut).steps)
    assert plans.plan(done).steps == ()
    assert plans.apply_steps(done, plan_uninstall(done, plans.SPACE, plans.GRANTED).steps) == cluster(states["before"])


# The scheduler's objects


@pytest.fixture(name="kubeconfig")
def _kubeconfig(tmp_path: Path) -> str:
    path = tmp_path / "admin.conf"
    path.write_text("apiVersion: v1\nkind: Config\n", encoding="utf-8")
    return str(path)


def scheduler(state: str, name: str, cut: str = "") -> Any:
    recorded = recording(state, "scheduler")
    return fill(schedulers.server(), recorded[name][cut] if cut else recorded[name])


def test_the_scheduler_is_unchanged_and_restored(state: str, kubeconfig: str) -> None:
    server, before = scheduler(state, "after"), scheduler(state, "before").state()
    assert not schedulers.run(server, {**schedulers.DESIRED, "kubeconfig": kubeconfig})["changed"]
    assert server.writes == []
    back = {"kubeconfig": kubeconfig, "cluster_uid": UID, "state": "restored"}
    assert schedulers.run(server, back)["changed"]
    assert server.state() == before


def test_the_scheduler_is_changed_and_restored(state: str, kubeconfig: str) -> None:
    server, before = scheduler(state, "after"), scheduler(state, "before").state()
    other = {**schedulers.DESIRED, "queues": [{"name": "org", "deserved": {"cpu": "4"}}]}
    assert schedulers.run(server, {**other, "kubeconfig": kubeconfig})["changed"]
    schedulers.run(server, {"kubeconfig": kubeconfig, "cluster_uid": UID, "state": "restored"})
    assert server.state() == before


@pytest.mark.parametrize("finished", [False, True])
@pytest.mark.parametrize(("state", "cut"), cut_off("scheduler"))
def test_an_interrupted_run_for_the_scheduler_is_restored(
    state: str, cut: str, finished: bool, kubeconfig: str
) -> None:
    server, before = scheduler(state, "interrupted", cut), scheduler(state, "before").state()
    if finished:
        schedulers.run(server, {**schedulers.DESIRED, "kubeconfig": kubeconfig})
        assert schedulers.text(server) == schedulers.text(scheduler(state, "after"))
    schedulers.run(server, {"kubeconfig": kubeconfig, "cluster_uid": UID, "state": "restored"})
    assert server.state() == before


# Volcano's manifest


def volcano(state: str, directory: Path, name: str, cut: str = "") -> Task_:
    recorded = recording(state, "manifest")
    server = fill(Cluster(), recorded[name][cut] if cut else recorded[name])
    assert isinstance(server, Cluster)
    return Task_(directory, server, recorded["text"])


def test_the_manifest_is_unchanged_and_removed(state: str, tmp_path: Path) -> None:
    apply, before = volcano(state, tmp_path, "after"), volcano(state, tmp_path, "before").cluster.state()
    result = apply()
    assert (result["changed"], apply.cluster.writes) == (False, [])
    assert apply.remove(remove_crds=True)["changed"]
    assert apply.cluster.state() == before


@pytest.mark.parametrize(("state", "cut"), cut_off("manifest"))
def test_an_interrupted_manifest_is_finished(state: str, cut: str, tmp_path: Path) -> None:
    apply, whole = volcano(state, tmp_path, "interrupted", cut), volcano(state, tmp_path, "after").cluster
    result = apply()
    assert not result.get("failed"), result
    assert apply.cluster.names() == whole.names()
    assert not apply()["changed"]
