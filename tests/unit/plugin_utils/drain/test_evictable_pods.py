# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action of a drain for each pod of a node."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.drain.evictable_pods import (
    DrainAction,
    EvictionRules,
    budgets_of_pod,
    classify_pods,
    parse_budgets,
)
from ansible_collections.volcano.colocation.tests.support.clusters.drain_api_server import budget, pod

FILES = [{"name": "data", "emptyDir": {}}]


def classified(manifest: dict[str, Any], *budgets: dict[str, Any], rules: EvictionRules | None = None) -> Any:
    (classified_pod,) = classify_pods([manifest], parse_budgets(budgets, "v1"), rules or EvictionRules())
    return classified_pod


def test_a_pod_that_a_controller_re_creates_is_evicted() -> None:
    evicted = classified(pod("a"))
    assert (evicted.action, evicted.why, str(evicted)) == (
        DrainAction.EVICT,
        "the ReplicaSet web re-creates it",
        "default/a",
    )


@pytest.mark.parametrize(
    ("manifest", "why"),
    [
        (pod("a", "DaemonSet"), "the DaemonSet web runs it on every node"),
        (pod("a", "", metadata={"annotations": {"kubernetes.io/config.mirror": "x"}}), "kubelet runs it from a file"),
        ({**pod("a", ""), "status": {"phase": "Succeeded"}}, "it has finished"),
        ({**pod("a", "Job"), "status": {"phase": "Failed"}}, "it has finished"),
    ],
    ids=["daemon", "mirror", "succeeded", "failed"],
)
def test_a_pod_that_stays(manifest: dict[str, Any], why: str) -> None:
    stays = classified(manifest, budget(allowed=0))
    assert (stays.action, stays.why, stays.blocking_pdb) == (DrainAction.IGNORE, why, "")


def test_a_pod_that_is_being_deleted_is_waited_for() -> None:
    assert classified(pod("a", "", metadata={"deletionTimestamp": "now"})).action is DrainAction.WAIT


def test_a_pod_without_a_controller_is_not_evicted_unless_that_is_allowed() -> None:
    refused = classified(pod("a", ""))
    assert refused.action is DrainAction.REFUSE
    assert "colocation_drain_bare_pods" in refused.why
    assert classified(pod("a", ""), rules=EvictionRules(bare_pods=True)).action is DrainAction.EVICT


def test_a_pod_with_an_empty_dir_is_not_evicted_unless_that_is_allowed() -> None:
    refused = classified(pod("a", volumes=FILES))
    assert refused.action is DrainAction.REFUSE
    assert "colocation_drain_empty_dir" in refused.why
    assert classified(pod("a", volumes=FILES), rules=EvictionRules(empty_dir=True)).action is DrainAction.EVICT
    assert classified(pod("a", volumes=[{"name": "c", "configMap": {"name": "c"}}])).action is DrainAction.EVICT


def test_an_owner_that_is_not_the_controller_does_not_re_create_a_pod() -> None:
    manifest = pod("a", "")
    manifest["metadata"]["ownerReferences"] = [{"kind": "Thing", "name": "t"}]
    assert classified(manifest).action is DrainAction.REFUSE


def test_a_budget_that_allows_nothing_now_is_named() -> None:
    assert classified(pod("a"), budget(allowed=0)).blocking_pdb == "web"
    assert classified(pod("a"), budget(allowed=1)).blocking_pdb == ""


def test_no_server_evicts_a_pod_under_two_budgets() -> None:
    refused = classified(pod("a"), budget("one"), budget("two"))
    assert refused.action is DrainAction.REFUSE
    assert "(one, two)" in refused.why


@pytest.mark.parametrize(
    ("selector", "selects"),
    [
        ({"matchLabels": {"app": "web"}}, True),
        ({"matchLabels": {"app": "db"}}, False),
        ({"matchLabels": {"app": "web", "tier": "x"}}, False),
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]}, False),
        ({"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["x"]}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "Exists"}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}, False),
    ],
)
def test_which_pods_a_budget_selects(selector: dict[str, Any], selects: bool) -> None:
    budgets = parse_budgets([budget(**selector)], "v1")
    assert bool(budgets_of_pod(budgets, "default", {"app": "web"})) is selects
    assert not budgets_of_pod(budgets, "other", {"app": "web"})


def test_an_empty_selector_selects_all_pods_in_policy_v1() -> None:
    everyone = {"metadata": {"name": "b", "namespace": "default"}, "spec": {"selector": {}}}
    assert budgets_of_pod(parse_budgets([everyone], "v1"), "default", {})
    assert not budgets_of_pod(parse_budgets([everyone], "v1beta1"), "default", {})
    assert not budgets_of_pod(parse_budgets([{**everyone, "spec": {}}], "v1"), "default", {})
