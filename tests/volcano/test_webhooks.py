# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Volcano's webhooks set and refuse, and what of them lasts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.lab.cluster.volcano import WEBHOOKS
from ansible_collections.volcano.colocation.tests.volcano import objects
from ansible_collections.volcano.colocation.tests.volcano.cluster import Cluster, RefusedError, eventually
from ansible_collections.volcano.colocation.tests.volcano.installation import manifest_variables
from ansible_collections.volcano.colocation.tests.volcano.objects import Manifest, job, name_of, task
from ansible_collections.volcano.colocation.tests.volcano.space import Space

WEBHOOK = "volcano-admission-service-jobs-validate"
KINDS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")


@pytest.fixture(name="own")
def _own(space: Callable[..., Space]) -> Space:
    return space(nodes=0)


def bundles(cluster: Cluster) -> dict[str, set[str]]:
    """The CA of each webhook configuration."""
    return {
        name_of(item): {webhook["clientConfig"].get("caBundle", "") for webhook in item["webhooks"]}
        for kind in KINDS
        for item in cluster.items(kind)
        if name_of(item).startswith("volcano-admission-service")
    }


def test_a_job_gets_defaults_when_it_is_created(own: Space) -> None:
    manifest = job("defaults", own.name, task(replicas=2))
    for field in ("minAvailable", "schedulerName"):
        del manifest["spec"][field]
    (created,) = own.create(manifest)
    assert {name: created["spec"][name] for name in ("minAvailable", "schedulerName", "queue", "maxRetry")} == {
        "minAvailable": 2,
        "schedulerName": "volcano",
        "queue": "default",
        "maxRetry": 3,
    }
    assert created["spec"]["tasks"][0]["minAvailable"] == 2


def test_an_update_is_checked_and_not_changed(cluster: Cluster, own: Space) -> None:
    (created,) = own.create(job("updated", own.name, task(replicas=2), minimum=1))
    with pytest.raises(RefusedError, match="may not add or remove tasks"):
        cluster.patch(created, {"spec": {"tasks": [*created["spec"]["tasks"], task("other")]}})
    with pytest.raises(RefusedError, match="'minAvailable' must not be greater than total replicas"):
        cluster.patch(created, {"spec": {"minAvailable": 3}})
    updated = cluster.patch(created, {"spec": {"minAvailable": 2}})
    assert updated["spec"] == {**created["spec"], "minAvailable": 2}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tasks": []}, "spec.tasks in body should have at least 1 items"),
        ({"tasks": [task("same"), task("same")]}, "duplicated task name same"),
        ({"minAvailable": 2}, "'minAvailable' should not be greater than total replicas in tasks"),
        ({"queue": "no-such-queue"}, "unable to find job queue"),
        ({"plugins": {"no-such-plugin": []}}, "unable to find job plugin: no-such-plugin"),
        ({"policies": [{"event": "PodEvicted", "action": "Shrug"}]}, "Shrug"),
    ],
)
def test_jobs_that_are_refused(own: Space, change: dict[str, Any], message: str) -> None:
    manifest = job("refused", own.name, task())
    with pytest.raises(RefusedError, match=message):
        own.create({**manifest, "spec": {**manifest["spec"], **change}})


def cpus(**amounts: str) -> dict[str, Any]:
    """Fields of a queue with amounts of CPUs."""
    fields: dict[str, Any] = {name: {"cpu": amount} for name, amount in amounts.items()}
    return {**fields, **({"guarantee": {"resource": fields["guarantee"]}} if "guarantee" in fields else {})}


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (cpus(guarantee="2", deserved="1"), "deserved"),
        (cpus(deserved="2", capability="1"), "capability"),
        (cpus(guarantee="2", capability="1"), "capability"),
        ({"parent": "no-such-queue"}, "no-such-queue"),
        ({"weight": -1}, "weight"),
    ],
)
def test_queues_that_are_refused(own: Space, spec: dict[str, Any], message: str) -> None:
    with pytest.raises(RefusedError, match=message):
        own.create(objects.queue("refused", **spec))


def test_a_closed_queue_takes_no_job(cluster: Cluster, own: Space) -> None:
    own.queue("closed")
    command = {
        "apiVersion": "bus.volcano.sh/v1alpha1",
        "kind": "Command",
        "metadata": {"name": "close", "namespace": own.name},
        "action": "CloseQueue",
        "target": owner(cluster.get("Queue", "closed")),
    }
    own.create(command)
    eventually(lambda: (cluster.get("Queue", "closed") or {})["status"].get("state") == "Closed")
    with pytest.raises(RefusedError, match="Open"):
        own.job("late", queue="closed")


def owner(item: Manifest | None) -> Manifest:
    assert item
    fields = {name: item[name] for name in ("apiVersion", "kind")}
    return {**fields, "name": name_of(item), "uid": item["metadata"]["uid"]}


def test_the_ca_survives_a_restart_of_the_webhooks(cluster: Cluster, own: Space) -> None:
    before = bundles(cluster)
    assert before
    assert all(len(values) == 1 and "" not in values for values in before.values())
    cluster.volcano.stop(WEBHOOKS)
    cluster.volcano.start(WEBHOOKS)
    own.job("afterwards")
    assert bundles(cluster) == before


def test_an_installation_keeps_what_others_changed_and_the_ca(cluster: Cluster) -> None:
    before = bundles(cluster)
    configuration = cluster.get("ValidatingWebhookConfiguration", WEBHOOK)
    assert configuration
    changed = [{**webhook, "timeoutSeconds": 7} for webhook in configuration["webhooks"]]
    cluster.patch(configuration, {"webhooks": changed})
    run = cluster.play("install", **manifest_variables(cluster))
    assert (run.code, run.recap("localhost")["changed"]) == (0, 0), run.output
    after = cluster.get("ValidatingWebhookConfiguration", WEBHOOK)
    assert after
    assert after["webhooks"] == changed
    assert f"ValidatingWebhookConfiguration {WEBHOOK}: webhooks" in run.output
    assert bundles(cluster) == before
    cluster.patch(configuration, {"webhooks": configuration["webhooks"]})
