# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The admission policies: each rule with a pod that follows it and one that breaks it, on the API server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.volcano.cluster import Cluster, RefusedError, eventually
from ansible_collections.volcano.colocation.tests.volcano.leveled_pods import (
    ADMISSION,
    BATCH,
    RULES,
    VOLCANO,
    WHOLE,
    leveled,
)
from ansible_collections.volcano.colocation.tests.volcano.objects import Manifest, pod
from ansible_collections.volcano.colocation.tests.volcano.space import Space


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


@pytest.mark.parametrize(("good", "bad", "message"), RULES)
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
