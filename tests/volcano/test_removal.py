# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The last tests: the role restores the configuration and removes Volcano while its programs run."""

from __future__ import annotations

from ansible_collections.volcano.colocation.tests.lab.cluster.volcano import NAMESPACE, SCHEDULER_CONFIG
from ansible_collections.volcano.colocation.tests.support.clusters.scheduler_confs import UPSTREAM
from ansible_collections.volcano.colocation.tests.volcano import objects
from ansible_collections.volcano.colocation.tests.volcano.cluster import Cluster, eventually
from ansible_collections.volcano.colocation.tests.volcano.objects import names

KINDS = "deployments.apps,configmaps,serviceaccounts,services"


def test_a_text_that_others_changed_is_not_restored(cluster: Cluster) -> None:
    """The tests did. The message says what to do by hand, after which the role restores what it writes."""
    name, key = SCHEDULER_CONFIG
    cluster.configure(UPSTREAM)
    cluster.configure(UPSTREAM.replace("binpack", "sla"))
    refused = cluster.play("restore")
    assert refused.code != 0
    assert f"ConfigMap {NAMESPACE}/{name}, key {key}" in refused.output

    cluster.delete("ConfigMap", "volcano-colocation-scheduler", NAMESPACE)
    for item in classes(cluster):
        cluster.delete("PriorityClass", item)
    cluster.configure(UPSTREAM)
    assert len(classes(cluster)) == 3
    restored = cluster.play("restore")
    assert restored.code == 0, restored.output
    config_map = cluster.get("ConfigMap", name, NAMESPACE)
    assert config_map
    assert config_map["data"][key] == UPSTREAM
    assert classes(cluster) == []
    again = cluster.play("restore")
    assert (again.code, again.recap("localhost")["changed"]) == (0, 0), again.output


def classes(cluster: Cluster) -> list[str]:
    return [name for name in names(cluster.items("PriorityClass")) if name.startswith("colocation-")]


def test_while_jobs_exist_nothing_is_removed(cluster: Cluster) -> None:
    cluster.create(objects.job("last", "default", objects.task()))
    run = cluster.play("uninstall", colocation_volcano_remove_crds=True)
    assert run.code != 0
    assert "default/last" in run.output
    cluster.delete("Job", "last", "default")
    eventually(lambda: not cluster.items("Job") and not cluster.items("PodGroup"))


def test_the_removal_leaves_only_what_others_made(cluster: Cluster) -> None:
    """The Secret of the webhooks goes, which the manifest's Job would have made; another client's ConfigMap stays."""
    cluster.create(objects.config_map("of-another-client", NAMESPACE))
    run = cluster.play("uninstall", colocation_volcano_remove_crds=True)
    assert run.code == 0, run.output
    assert f"Namespace {NAMESPACE}: it also contains ConfigMap of-another-client" in run.output
    remaining = cluster.volcano.kubectl("get", KINDS, "-n", NAMESPACE, "-o", "name").split()
    assert sorted(remaining) == ["configmap/kube-root-ca.crt", "configmap/of-another-client", "serviceaccount/default"]
    listed = cluster.volcano.kubectl("get", "crds,clusterroles,clusterrolebindings", "-o", "name")
    webhooks = cluster.items("MutatingWebhookConfiguration") + cluster.items("ValidatingWebhookConfiguration")
    assert ("volcano" in listed, names(webhooks)) == (False, [])
