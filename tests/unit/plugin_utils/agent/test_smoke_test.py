# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pods of the smoke test: one for each pool, without permissions, and the features that each of them can verify."""

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
    update_changes,
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


def smoke_test(reported: dict[str, str] | None = None, labels: dict[str, str] | None = None) -> SmokeTest:
    live = node("n1", labels or LABELS, reported=RICH if reported is None else reported)
    (test,) = plan_smoke_tests({"n1": host("n1")}, [live], Agents([], [agent("n1")], oversubscribed=False))
    return test


def live(
    trial: SmokeTest, *, ready: bool = True, status: dict[str, Any] | None = None, **metadata: Any
) -> dict[str, Any]:
    """The pod in the API server."""
    made = render_pod(trial, SPACE)
    default_status = {
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": str(ready)}],
        "containerStatuses": [{"name": "x", "containerID": "containerd://" + "c" * 64, "state": {"running": {}}}],
    }
    return {
        **made,
        "metadata": {**made["metadata"], "uid": "5d0e", **metadata},
        "status": {**default_status, **(status or {})},
    }


def test_there_is_one_test_for_each_pool_with_an_agent() -> None:
    nodes = [
        node("n2", LABELS),
        node("n1", LABELS),
        node("n3", {POOL_LABEL: "v1-other"}),
        node("n4"),
        node("elsewhere", LABELS),
    ]
    hosts = {name: host(name) for name in ("n1", "n2", "n3", "n4")}
    tests = plan_smoke_tests(
        hosts, nodes, Agents([], [agent("n1"), agent("n2"), agent("elsewhere")], oversubscribed=False)
    )
    assert [(test.pool, test.node.name, test.image) for test in tests] == [(POOLED.name, "n1", CHOSEN.image)]
    assert tests[0].features == POOLED.kind.features


@pytest.mark.parametrize("version", ["1.25", "1.30", "1.34"])
def test_the_pod_is_valid_for_the_api(version: str) -> None:
    for reported in (RICH, {}):
        made = render_pod(smoke_test(reported), SPACE)
        assert kubernetes_validate.validate(made, version, strict=True).startswith(version)


def test_the_pod_is_offline_small_and_without_permissions() -> None:
    made = render_pod(smoke_test(), SPACE)
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


def test_the_pod_requests_batch_cpu_only_if_the_node_has_enough() -> None:
    assert [
        smoke_test(reported).batch
        for reported in (RICH, {}, {"kubernetes.io/batch-cpu": "199"}, {"kubernetes.io/batch-cpu": "?"})
    ] == [
        True,
        False,
        False,
        False,
    ]
    assert "kubernetes.io/batch-cpu" not in str(render_pod(smoke_test({}), SPACE))


def test_pods_are_created_reused_and_replaced() -> None:
    trial = smoke_test()
    assert [step.operation for step in start_changes([trial], [], SPACE)] == [Operation.CREATE]
    assert not list(start_changes([trial], [live(trial)], SPACE))
    moved = live(replace(trial, node=node("n9")))
    for stale in (live(trial, status={"phase": "Failed"}), moved, live(replace(trial, image="old:1"))):
        assert [(step.operation, step.ref.name) for step in start_changes([trial], [stale], SPACE)] == [
            (Operation.DELETE, trial.name)
        ]
    leaving = live(trial, status={"phase": "Failed"}, deletionTimestamp="2026-01-01T00:00:00Z")
    assert not list(start_changes([trial], [leaving], SPACE))


def test_all_pods_of_tests_are_deleted() -> None:
    remaining = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "volcano-agent-probe-old", "namespace": SPACE}}
    assert [str(step) for step in cleanup_changes([live(smoke_test()), remaining])] == [
        f"delete Pod {SPACE}/{smoke_test().name}",
        f"delete Pod {SPACE}/volcano-agent-probe-old",
    ]
    assert not list(cleanup_changes([live(smoke_test(), deletionTimestamp="now")]))


def test_expected_values_of_a_ready_pod() -> None:
    (test_pod,) = smoke_test_pods([smoke_test()], [live(smoke_test())])
    result = test_pod.to_result()
    read = result["options"]
    assert (result["ready"], result["reason"], result["host"], result["pod"]) == (
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
    assert {(value["level"], value["file"], value["value"]) for value in read["expected"]} == {
        (level, *file)
        for level in ("pod", "container")
        for file in (("cpu.weight", "20"), ("cpu.max", "20000 100000"), ("cpu.max.burst", "5000"))
    }
    assert [unverified["feature"] for unverified in result["unverified"]] == ["OverSubscription", "Eviction"]


@pytest.mark.parametrize(
    ("pods", "why"),
    [
        ([], "the pod does not exist yet"),
        ([live(smoke_test(), deletionTimestamp="now")], "a pod of an earlier run is still being deleted"),
        ([live(smoke_test(), ready=False)], "its pod is not Ready: Running"),
        (
            [
                live(
                    smoke_test(),
                    ready=False,
                    status={"containerStatuses": [{"state": {"waiting": {"reason": "ErrImageNeverPull"}}}]},
                )
            ],
            "its pod is not Ready: ErrImageNeverPull",
        ),
        (
            [
                live(
                    smoke_test(),
                    ready=False,
                    status={"phase": "Failed", "containerStatuses": [], "reason": "OutOfkubernetes.io/batch-cpu"},
                )
            ],
            "its pod is not Ready: OutOfkubernetes.io/batch-cpu",
        ),
        ([live(smoke_test(), status={"containerStatuses": [{"name": "x"}]})], "its pod is not Ready: Running"),
    ],
)
def test_reasons_why_a_pod_is_not_ready(pods: Sequence[dict[str, Any]], why: str) -> None:
    (test_pod,) = smoke_test_pods([smoke_test()], pods)
    assert (test_pod.reason, test_pod.to_result()["ready"]) == (why, False)


def values(
    features: Sequence[Feature], live_node: LiveNode, *, v2: bool, batch: bool = True
) -> list[tuple[str, str, str]]:
    expected = expected_values(features, live_node, v2=v2, batch=batch)
    return [(item.controller, item.file, item.value) for item in expected if item.level == "pod"]


def test_values_of_each_feature_on_v1() -> None:
    features = (Feature.RESOURCES, Feature.CPU_QOS, Feature.CPU_BURST, Feature.MEMORY_QOS)
    assert values(features, node("n1", LABELS), v2=False) == [
        ("cpu", "cpu.shares", "204"),
        ("cpu", "cpu.cfs_quota_us", "20000"),
        ("cpu", "cpu.qos_level", "-1"),
        ("cpu", "cpu.cfs_burst_us", "5000"),
        ("memory", "memory.qos_level", "-1"),
    ]


def test_only_resources_can_be_verified_on_a_node_without_labels() -> None:
    features = (Feature.RESOURCES, Feature.CPU_BURST)
    bare = node("n1", {POOL_LABEL: "x"})
    assert {file for _controller, file, _value in values(features, bare, v2=True)} == {"cpu.weight", "cpu.max"}
    (off,) = unverified_features(features, bare, batch=True)
    assert (off.feature, off.reason) == (
        Feature.CPU_BURST,
        "the Node has no label volcano.sh/colocation=true, without which the agent does not enable it",
    )
    assert [item.feature for item in unverified_features(features, bare, batch=False)] == list(features)
    assert not values(features, bare, v2=True, batch=False)


def test_every_feature_is_either_verified_or_reported() -> None:
    labelled = node("n1", LABELS)
    off = {item.feature for item in unverified_features(Feature, labelled, batch=True)}
    verified = {Feature(item.feature) for item in expected_values(Feature, labelled, v2=False, batch=True)}
    assert off | verified == set(Feature)
    assert not off & verified


def test_values_depend_on_the_cgroup_version_of_the_host() -> None:
    trial = replace(smoke_test(), host=replace(host("n1"), mode=CgroupMode.V1, cgroup_root="/kubelet", driver=None))
    pod_options = smoke_test_pods([trial], [live(trial)])[0].to_result()["options"]
    assert {item["file"] for item in pod_options["expected"]} == {"cpu.shares", "cpu.cfs_quota_us", "cpu.cfs_burst_us"}
    assert (pod_options["cgroup_root"], pod_options["cgroup_driver"]) == ("/kubelet", "")


def test_the_agent_sets_the_quota_of_the_pod_if_it_can() -> None:
    """A quota of kubelet would hide that the agent's first event sets no burst."""
    limits = [
        render_pod(test, SPACE)["spec"]["containers"][0]["resources"]["limits"]
        for test in (
            smoke_test(),
            smoke_test(reported={}),
            replace(smoke_test(), features=(Feature.CPU_BURST,)),
        )
    ]
    assert [amounts.get("cpu") for amounts in limits] == [None, "300m", "300m"]


def test_an_update_changes_an_annotation_of_each_pod_that_stays() -> None:
    trial = smoke_test()
    stays, leaves = live(trial, resourceVersion="7"), live(trial, deletionTimestamp="2026-01-01T00:00:00Z")
    (change,) = update_changes([stays, leaves])
    assert change.operation is Operation.PATCH
    assert change.body["metadata"]["annotations"] == {"colocation.volcano.sh/updated": "7"}
