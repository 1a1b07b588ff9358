# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role on a cluster with the real Volcano: what it installed, second runs, and check mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import yaml

from ansible_collections.volcano.colocation.tests.lab.cluster.volcano import (
    DEPLOYMENTS,
    NAMESPACE,
    SCHEDULER,
    SCHEDULER_CONFIG,
)
from ansible_collections.volcano.colocation.tests.support.clusters.scheduler_confs import UPSTREAM
from ansible_collections.volcano.colocation.tests.volcano.cluster import CONFIGURATION, Cluster, eventually
from ansible_collections.volcano.colocation.tests.volcano.installation import manifest_variables
from ansible_collections.volcano.colocation.tests.volcano.space import Space

NAME, KEY = SCHEDULER_CONFIG
OPTIONS: dict[str, Any] = {
    **CONFIGURATION,
    "colocation_queues": [
        {"name": "company", "capability": {"cpu": "8"}},
        {"name": "team", "parent": "company", "weight": 2, "reclaimable": False},
        {"name": "plain"},
    ],
}


def loaded(cluster: Cluster) -> str:
    """The last configuration that the scheduler has logged."""
    lines = cluster.volcano.plane.log(SCHEDULER).read_text().splitlines()
    return [line for line in lines if "Finished loading scheduler config" in line][-1].rpartition("Final state: ")[2]


def test_an_installation_that_is_complete_is_not_changed(cluster: Cluster) -> None:
    for arguments in ((), ("--check", "--diff")):
        run = cluster.play("install", *arguments, **manifest_variables(cluster))
        assert (run.code, run.recap("localhost")["changed"]) == (0, 0), run.output
    ready = cluster.volcano.kubectl("get", "deployments", "-n", NAMESPACE, "-o", "jsonpath={..readyReplicas}")
    assert ready.split() == ["1"] * len(DEPLOYMENTS)


def test_upstreams_manifest_has_the_configuration_from_which_tests_start(cluster: Cluster) -> None:
    documents = yaml.safe_load_all(cluster.volcano.built.manifest.read_text(encoding="utf-8"))
    (text,) = [item["data"][KEY] for item in documents if item and item["metadata"]["name"] == NAME]
    assert text == UPSTREAM


def test_the_scheduler_loads_what_the_role_writes(cluster: Cluster) -> None:
    cluster.configure(UPSTREAM)
    eventually(lambda: loaded(cluster).startswith("actions=[allocate backfill preempt]"), lambda: loaded(cluster))
    again = cluster.play(**CONFIGURATION)
    assert (again.code, again.recap("localhost")["changed"]) == (0, 0), again.output


def test_queues_pass_volcanos_webhooks_and_check_mode_says_the_same(
    cluster: Cluster, space: Callable[..., Space]
) -> None:
    """A parent and its child in one run; a queue with nothing but a name."""
    cluster.configure(UPSTREAM)
    own = space(nodes=0)
    checked = cluster.play("main", "--check", "--diff", **OPTIONS)
    assert (checked.code, checked.recap("localhost")["changed"]) == (0, 1), checked.output
    assert cluster.get("Queue", "company") is None
    done = cluster.play("main", "--diff", **OPTIONS)
    assert (done.code, done.recap("localhost")["changed"]) == (0, 1), done.output
    for name in ("company", "team", "plain"):
        own.adopt("Queue", name)
    team = cluster.get("Queue", "team")
    assert team
    assert [team["spec"][field] for field in ("parent", "weight", "reclaimable")] == ["company", 2, False]
    again = cluster.play(**OPTIONS)
    assert (again.code, again.recap("localhost")["changed"]) == (0, 0), again.output


def test_a_queue_that_the_webhook_would_refuse_is_refused_before_the_first_change(cluster: Cluster) -> None:
    before = cluster.volcano.scheduler_config.read_text()
    queue = {"name": "wrong", "guarantee": {"cpu": "2"}, "deserved": {"cpu": "1"}}
    run = cluster.play(**CONFIGURATION, colocation_queues=[queue])
    assert run.code != 0
    assert "colocation_queues[0].guarantee.cpu: 2 is more than deserved has, 1" in run.output
    assert cluster.volcano.scheduler_config.read_text() == before
    assert cluster.get("Queue", "wrong") is None
