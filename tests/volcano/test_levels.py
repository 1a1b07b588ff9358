# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The admission policies: each rule with a pod that follows it and one that breaks it, on the API server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.volcano.cluster import Cluster, RefusedError, eventually
from ansible_collections.volcano.colocation.tests.volcano.objects import Manifest, pod
from ansible_collections.volcano.colocation.tests.volcano.space import Space

VOLCANO, OPENFUYAO = "volcano.sh/qos-level", "openfuyao.com/QoS-level"
ADMISSION = {
    "levels": [
        {"level": "HLS", "priority_class": "colocation-hls"},
        {"level": "LS", "priority_class": "colocation-ls"},
        {"level": "BE", "priority_class": "colocation-be", "node_labels": {"volcano.sh/oversubscription": "true"}},
    ]
}
BATCH = {"kubernetes.io/batch-cpu": "500", "kubernetes.io/batch-memory": "1Gi"}
WHOLE = {"cpu": "2", "memory": "1Gi"}


@pytest.fixture(scope="module", autouse=True)
def _policies(cluster: Cluster) -> None:
    cluster.configure(colocation_admission=ADMISSION)


@pytest.fixture(scope="module", name="admit")
def _admit(cluster: Cluster, _policies: None) -> Callable[[Manifest], Manifest]:
    """The pod as the API server would store it; the policies are in effect."""
    admit = cluster.dry_run

    def in_effect() -> bool:
        try:
            admit(leveled({VOLCANO: "XL"}))
        except RefusedError:
            return "priorityClassName" in admit(leveled({VOLCANO: "BE"}, requests=BATCH))["spec"]
        return False

    eventually(in_effect)
    return admit


def leveled(
    annotations: dict[str, str], requests: dict[str, str] | None = None, limits: dict[str, str] | None = None
) -> Manifest:
    """A pod with the default scheduler."""
    manifest = pod("leveled", "default", annotations)
    manifest["spec"]["schedulerName"] = "default-scheduler"
    manifest["spec"]["containers"][0]["resources"] = {"requests": requests or {}, "limits": limits or {}}
    return manifest


@pytest.mark.parametrize(
    ("good", "bad", "message"),
    [
        pytest.param(
            leveled({VOLCANO: "HLS"}, WHOLE, WHOLE),
            leveled({VOLCANO: "HLS"}, {**WHOLE, "cpu": "1500m"}, {**WHOLE, "cpu": "1500m"}),
            "HLS",
            id="HLS has whole CPUs",
        ),
        pytest.param(
            leveled({VOLCANO: "HLS"}, WHOLE, WHOLE),
            leveled({VOLCANO: "HLS"}, WHOLE, {**WHOLE, "cpu": "3"}),
            "HLS",
            id="HLS has requests that equal its limits",
        ),
        pytest.param(
            leveled({VOLCANO: "HLS"}, WHOLE, WHOLE),
            leveled({VOLCANO: "HLS"}, {**WHOLE, **BATCH}, {**WHOLE, **BATCH}),
            "HLS",
            id="HLS has no oversubscribed resources",
        ),
        pytest.param(
            leveled({VOLCANO: "LS"}, {"cpu": "100m"}), leveled({VOLCANO: "LS"}), "LS", id="LS requests something"
        ),
        pytest.param(
            leveled({VOLCANO: "BE"}, BATCH, BATCH),
            leveled({VOLCANO: "BE"}, {"cpu": "1"}),
            "BE: only oversubscribed resources may be asked for",
            id="BE requests only oversubscribed resources",
        ),
        pytest.param(
            leveled({VOLCANO: "LS"}, {"cpu": "1"}),
            leveled({VOLCANO: "XL"}, {"cpu": "1"}),
            "the QoS level is none of",
            id="the level is a known one",
        ),
        pytest.param(
            leveled({VOLCANO: "LS", OPENFUYAO: "LS"}, {"cpu": "1"}),
            leveled({VOLCANO: "LS", OPENFUYAO: "BE"}, {"cpu": "1"}),
            "different levels",
            id="two annotations agree",
        ),
    ],
)
def test_a_rule_admits_one_pod_and_refuses_the_other(
    admit: Callable[[Manifest], Manifest], good: Manifest, bad: Manifest, message: str
) -> None:
    admit(good)
    with pytest.raises(RefusedError, match=message):
        admit(bad)


@pytest.mark.parametrize(
    ("level", "resources", "priority"),
    [("HLS", (WHOLE, WHOLE), 1000000), ("LS", ({"cpu": "1"},), 100000), ("BE", (BATCH, BATCH), -100000)],
)
def test_a_level_gives_its_pods_scheduler_class_and_nodes(
    admit: Callable[[Manifest], Manifest], level: str, resources: tuple[dict[str, str], ...], priority: int
) -> None:
    spec = admit(leveled({VOLCANO: level}, *resources))["spec"]
    observed = [spec[name] for name in ("schedulerName", "priorityClassName", "priority")]
    assert observed == ["volcano", f"colocation-{level.lower()}", priority]
    assert spec.get("nodeSelector") == ({"volcano.sh/oversubscription": "true"} if level == "BE" else None)


def test_a_pod_of_the_level_be_runs_on_nodes_with_oversubscribed_resources(
    cluster: Cluster, admit: Callable[[Manifest], Manifest], space: Callable[..., Space]
) -> None:
    own = space(cpus=2, **{"kubernetes.io/batch-cpu": "2000", "kubernetes.io/batch-memory": "4Gi"})
    pending: dict[str, Any] = {"requests": BATCH, "limits": BATCH}
    manifest = pod("offline", own.name, {VOLCANO: "BE"}, schedulerName="default-scheduler")
    manifest["spec"]["containers"][0]["resources"] = pending
    own.create(manifest)
    (node,) = cluster.items("Node", selector=f"colocation-test/pool={own.name}")
    assert cluster.running(own.name) == []
    cluster.patch(node, {"metadata": {"labels": {"volcano.sh/oversubscription": "true"}}})
    eventually(lambda: cluster.running(own.name), lambda: cluster.events(own.name))
