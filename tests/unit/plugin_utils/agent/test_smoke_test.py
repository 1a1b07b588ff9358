# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The probe's pods: one a pool, harmless, and what of the agent each of them can show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import kubernetes_validate
import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.features import Feature
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.installed_agent import LiveNode
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.manifests import render_daemon_set
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.node_proof import Agents
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.owned_objects import COLOCATION_LABEL, POOL_LABEL
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.smoke_test import (
    SmokeTest,
    cleanup_changes,
    expected_values,
    plan_smoke_tests,
    render_pod,
    smoke_test_pods,
    start_changes,
    unverified_features,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.node_state import CgroupMode
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.object_changes import Operation
from ansible_collections.volcano.colocation.tests.support.clusters.agent_clusters import host, node, options, pools

SPACE = "volcano-system"
CHOSEN = options(features=["OverSubscription", "Eviction", "Resources", "CPUBurst"])
POOLED = pools([host("n1"), host("n2")], CHOSEN)[0]
LABELS = {POOL_LABEL: POOLED.name, COLOCATION_LABEL: "true"}
RICH = {"kubernetes.io/batch-cpu": "900"}


def agent(on: str) -> dict[str, Any]:
    spec = render_daemon_set(POOLED, CHOSEN)["spec"]["template"]["spec"]
    return {"metadata": {"name": f"agent-{on}"}, "spec": {**spec, "nodeName": on}}


def tried(reported: dict[str, str] | None = None, labels: dict[str, str] | None = None) -> SmokeTest:
    live = node("n1", labels or LABELS, reported=RICH if reported is None else reported)
    (found,) = plan_smoke_tests({"n1": host("n1")}, [live], Agents([], [agent("n1")], oversubscribed=False))
    return found


def live(
    trial: SmokeTest, *, ready: bool = True, status: dict[str, Any] | None = None, **metadata: Any
) -> dict[str, Any]:
    """The pod as the API server has it."""
    made = render_pod(trial, SPACE)
    told = {
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": str(ready)}],
        "containerStatuses": [{"name": "x", "containerID": "containerd://" + "c" * 64, "state": {"running": {}}}],
    }
    return {
        **made,
        "metadata": {**made["metadata"], "uid": "5d0e", **metadata},
        "status": {**told, **(status or {})},
    }


def test_there_is_one_in_each_pool_that_has_an_agent() -> None:
    nodes = [
        node("n2", LABELS),
        node("n1", LABELS),
        node("n3", {POOL_LABEL: "v1-other"}),
        node("n4"),
        node("elsewhere", LABELS),
    ]
    hosts = {name: host(name) for name in ("n1", "n2", "n3", "n4")}
    found = plan_smoke_tests(
        hosts, nodes, Agents([], [agent("n1"), agent("n2"), agent("elsewhere")], oversubscribed=False)
    )
    assert [(each.pool, each.node.name, each.image) for each in found] == [(POOLED.name, "n1", CHOSEN.image)]
    assert found[0].features == POOLED.kind.features


@pytest.mark.parametrize("version", ["1.25", "1.30", "1.34"])
def test_the_api_takes_the_pod(version: str) -> None:
    for reported in (RICH, {}):
        made = render_pod(tried(reported), SPACE)
        assert kubernetes_validate.validate(made, version, strict=True).startswith(version)


def test_the_pod_is_offline_small_and_without_rights() -> None:
    made = render_pod(tried(), SPACE)
    (container,) = made["spec"]["containers"]
    assert made["metadata"]["annotations"]["volcano.sh/qos-level"] == "BE"
    assert made["spec"]["nodeName"] == "n1"
    assert made["spec"]["automountServiceAccountToken"] is False
    assert not {"hostNetwork", "hostPID", "hostIPC", "volumes", "serviceAccountName"} & set(made["spec"])
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert "privileged" not in container["securityContext"]
    assert container["image"] == CHOSEN.image
    selected = render_daemon_set(POOLED, CHOSEN)["spec"]["selector"]["matchLabels"]
    assert any(made["metadata"]["labels"].get(key) != value for key, value in selected.items())


def test_it_asks_for_batch_cpu_only_where_the_node_has_enough() -> None:
    assert [
        tried(each).batch for each in (RICH, {}, {"kubernetes.io/batch-cpu": "199"}, {"kubernetes.io/batch-cpu": "?"})
    ] == [
        True,
        False,
        False,
        False,
    ]
    assert "kubernetes.io/batch-cpu" not in str(render_pod(tried({}), SPACE))


def test_pods_are_made_used_again_and_replaced() -> None:
    trial = tried()
    assert [step.operation for step in start_changes([trial], [], SPACE)] == [Operation.CREATE]
    assert not list(start_changes([trial], [live(trial)], SPACE))
    moved = live(replace(trial, node=node("n9")))
    for stale in (live(trial, status={"phase": "Failed"}), moved, live(replace(trial, image="old:1"))):
        assert [(step.operation, step.ref.name) for step in start_changes([trial], [stale], SPACE)] == [
            (Operation.DELETE, trial.name)
        ]
    leaving = live(trial, status={"phase": "Failed"}, deletionTimestamp="2026-01-01T00:00:00Z")
    assert not list(start_changes([trial], [leaving], SPACE))


def test_all_of_them_go() -> None:
    left = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "volcano-agent-probe-old", "namespace": SPACE}}
    assert [str(step) for step in cleanup_changes([live(tried()), left])] == [
        f"delete Pod {SPACE}/{tried().name}",
        f"delete Pod {SPACE}/volcano-agent-probe-old",
    ]
    assert not list(cleanup_changes([live(tried(), deletionTimestamp="now")]))


def test_what_is_to_be_read_of_a_ready_pod() -> None:
    (found,) = smoke_test_pods([tried()], [live(tried())])
    told = found.to_result()
    read = told["options"]
    assert (told["ready"], told["reason"], told["host"], told["pod"]) == (
        True,
        "",
        "n1",
        f"volcano-agent-probe-{POOLED.name}",
    )
    assert (read["uid"], read["container"], read["runtime"], read["cgroup_driver"]) == (
        "5d0e",
        "c" * 64,
        "containerd",
        "systemd",
    )
    assert read["cgroup_root"] == "/"
    assert {(each["level"], each["file"], each["value"]) for each in read["expected"]} == {
        (level, *each)
        for level in ("pod", "container")
        for each in (("cpu.weight", "20"), ("cpu.max", "20000 100000"), ("cpu.max.burst", "5000"))
    }
    assert [each["feature"] for each in told["unverified"]] == ["OverSubscription", "Eviction"]


@pytest.mark.parametrize(
    ("pods", "why"),
    [
        ([], "the pod does not exist yet"),
        ([live(tried(), deletionTimestamp="now")], "a pod of an earlier run is still being deleted"),
        ([live(tried(), ready=False)], "its pod is not Ready: Running"),
        (
            [
                live(
                    tried(),
                    ready=False,
                    status={"containerStatuses": [{"state": {"waiting": {"reason": "ErrImageNeverPull"}}}]},
                )
            ],
            "its pod is not Ready: ErrImageNeverPull",
        ),
        (
            [
                live(
                    tried(),
                    ready=False,
                    status={"phase": "Failed", "containerStatuses": [], "reason": "OutOfkubernetes.io/batch-cpu"},
                )
            ],
            "its pod is not Ready: OutOfkubernetes.io/batch-cpu",
        ),
        ([live(tried(), status={"containerStatuses": [{"name": "x"}]})], "its pod is not Ready: Running"),
    ],
)
def test_why_there_is_nothing_to_be_read(pods: Sequence[dict[str, Any]], why: str) -> None:
    (found,) = smoke_test_pods([tried()], pods)
    assert (found.reason, found.to_result()["ready"]) == (why, False)


def values(
    features: Sequence[Feature], live_node: LiveNode, *, v2: bool, batch: bool = True
) -> list[tuple[str, str, str]]:
    found = expected_values(features, live_node, v2=v2, batch=batch)
    return [(each.controller, each.file, each.value) for each in found if each.level == "pod"]


def test_what_each_feature_writes_on_v1() -> None:
    features = (Feature.RESOURCES, Feature.CPU_QOS, Feature.CPU_BURST, Feature.MEMORY_QOS)
    assert values(features, node("n1", LABELS), v2=False) == [
        ("cpu", "cpu.shares", "204"),
        ("cpu", "cpu.cfs_quota_us", "20000"),
        ("cpu", "cpu.qos_level", "-1"),
        ("cpu", "cpu.cfs_burst_us", "5000"),
        ("memory", "memory.qos_level", "-1"),
    ]


def test_a_node_without_labels_shows_resources_only() -> None:
    features = (Feature.RESOURCES, Feature.CPU_BURST)
    bare = node("n1", {POOL_LABEL: "x"})
    assert {file for _controller, file, _wanted in values(features, bare, v2=True)} == {"cpu.weight", "cpu.max"}
    (off,) = unverified_features(features, bare, batch=True)
    assert (off.feature, off.reason) == (
        Feature.CPU_BURST,
        "the Node has no label volcano.sh/colocation=true, without which the agent does not enable it",
    )
    assert [each.feature for each in unverified_features(features, bare, batch=False)] == list(features)
    assert not values(features, bare, v2=True, batch=False)


def test_of_every_feature_it_is_known_whether_the_pod_shows_it() -> None:
    labelled = node("n1", LABELS)
    off = {each.feature for each in unverified_features(Feature, labelled, batch=True)}
    shown = {Feature(each.feature) for each in expected_values(Feature, labelled, v2=False, batch=True)}
    assert off | shown == set(Feature)
    assert not off & shown


def test_the_version_of_the_host_decides() -> None:
    trial = replace(tried(), host=replace(host("n1"), mode=CgroupMode.V1, cgroup_root="/kubelet", driver=None))
    told = smoke_test_pods([trial], [live(trial)])[0].to_result()["options"]
    assert {each["file"] for each in told["expected"]} == {"cpu.shares", "cpu.cfs_quota_us", "cpu.cfs_burst_us"}
    assert (told["cgroup_root"], told["cgroup_driver"]) == ("/kubelet", "")
