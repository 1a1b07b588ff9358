# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""manifest_apply from its arguments to the requests, on an API server in memory."""

from __future__ import annotations

import hashlib
import importlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.playbook.play_context import PlayContext
from ansible.playbook.task import Task
from ansible.plugins.loader import connection_loader
from ansible.template import Templar

from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.api_errors import ErrorContext
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.dynamic_client import Client
from ansible_collections.volcano.colocation.tests.support.clusters.manifest_api_server import SECRET, Cluster

FIXTURES = Path(__file__).parents[1] / "fixtures" / "manifests"
TEXT = (FIXTURES / "volcano.yaml.txt").read_text(encoding="utf-8")
SPACE, CONF, KEY = "volcano-system", "volcano-scheduler-configmap", "volcano-scheduler.conf"
INVENTORY = "create ConfigMap kube-system/volcano-colocation-manifest-volcano"


@dataclass
class Task_:
    """A task of a play; keyword arguments change its options."""

    directory: Path
    cluster: Cluster
    text: str = TEXT

    def __call__(
        self, *, check: bool = False, wait: Callable[[], None] | None = None, **options: Any
    ) -> dict[str, Any]:
        manifest, kubeconfig = self.directory / "volcano.yaml", self.directory / "admin.conf"
        manifest.write_text(self.text, encoding="utf-8")
        kubeconfig.write_text("apiVersion: v1\nkind: Config\n", encoding="utf-8")
        arguments = {
            "kubeconfig": str(kubeconfig),
            "cluster_uid": "the-cluster",
            "name": "volcano",
            "manifest": str(manifest),
            "sha256": hashlib.sha256(self.text.encode()).hexdigest(),
            "timeout": 0 if wait is None else 300,
        }
        return _run(self.cluster, {**arguments, **options}, check=check, wait=wait or (lambda: None))

    def remove(self, *, check: bool = False, **options: Any) -> dict[str, Any]:
        return self(check=check, state="absent", manifest=None, sha256="", **options)


def _run(cluster: Cluster, options: Mapping[str, Any], *, check: bool, wait: Callable[[], None]) -> dict[str, Any]:
    plugin = importlib.import_module(
        "ansible_collections.volcano.colocation.plugins.action.manifest_apply"
    ).ActionModule

    class OnServer(plugin):  # type: ignore[misc,valid-type]
        def connect(self, context: ErrorContext) -> Client:
            return cluster.client(context, dry_run=self._task.check_mode)

        def execute(self, node: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
            node.sleep = lambda _seconds: wait()
            result: dict[str, Any] = super().execute(node, arguments)
            return result

    task = Task()
    task.args, task.check_mode, task.diff = dict(options), check, True
    loader = DataLoader()
    connection = connection_loader.get("local", PlayContext(), os.devnull)
    one = OnServer(task, connection, PlayContext(), loader, Templar(loader=loader, variables={}), None)
    one._load_name = "manifest_apply"
    result: dict[str, Any] = one.run(task_vars={"inventory_hostname": "node"})
    return result


@pytest.fixture(name="apply")
def _apply(tmp_path: Path) -> Task_:
    return Task_(tmp_path, Cluster())


def objects(result: Mapping[str, Any]) -> list[str]:
    return [f"{change['action']} {change['object']}" for change in result["changes"]]


def conf(cluster: Cluster) -> str:
    live_object = cluster.get("ConfigMap", CONF, SPACE)
    assert live_object
    return str(live_object["data"][KEY])


def test_check_mode_then_the_run_then_nothing_then_away_then_nothing(apply: Task_) -> None:
    cluster = apply.cluster
    before = cluster.state()
    checked = apply(check=True)
    assert (cluster.state(), cluster.writes) == (before, [])
    first = apply()
    assert "failed" not in first, first
    same = ("changed", "diff", "changes", "preserved_fields", "remaining", "images", "unsupported")
    assert {key: checked[key] for key in same} == {key: first[key] for key in same}
    assert cluster.writes[0] == INVENTORY
    assert objects(first) == [
        f"create Namespace {SPACE}",
        "create CustomResourceDefinition queues.scheduling.volcano.sh",
        "create CustomResourceDefinition podgroups.scheduling.volcano.sh",
        f"create ServiceAccount {SPACE}/volcano-admission",
        "create ClusterRole volcano-admission",
        "create ClusterRoleBinding volcano-admission-role",
        f"create ConfigMap {SPACE}/{CONF}",
        f"create Secret {SPACE}/volcano-pull",
        f"create Service {SPACE}/volcano-admission-service",
        f"create Job {SPACE}/volcano-admission-init",
        f"create Deployment {SPACE}/volcano-admission",
        f"create Deployment {SPACE}/volcano-scheduler",
        "create Queue offline",
        "create ValidatingWebhookConfiguration volcano-admission-service-queues-validate",
    ]
    assert first["unsupported"] == [f"Pod volcano-test ({apply.directory}/volcano.yaml:226): a Helm hook for test"]
    assert first["preserved_fields"] == first["remaining"] == []

    written = len(cluster.writes)
    again = apply()
    assert (again["changed"], again["diff"], len(cluster.writes)) == (False, [], written)
    cluster.forget_jobs()
    assert (apply()["changed"], len(cluster.writes)) == (False, written)

    state_before = cluster.state()
    away_checked = apply.remove(check=True, remove_crds=True)
    assert cluster.state() == state_before
    away = apply.remove(remove_crds=True)
    assert cluster.state() == before
    assert away_checked == away
    assert not apply.remove(remove_crds=True)["changed"]


def test_what_the_schedulers_role_wrote_since_stays(apply: Task_) -> None:
    apply()
    live_object = apply.cluster.get("ConfigMap", CONF, SPACE)
    assert live_object
    apply.cluster.add({**live_object, "data": {KEY: "edited\n", "other": "x"}})
    again = apply()
    assert (again["changed"], again["preserved_fields"]) == (False, [f"ConfigMap {SPACE}/{CONF}: data.{KEY}"])
    assert conf(apply.cluster) == "edited\n"

    apply.text = TEXT.replace("- name: gang", "- name: conformance")
    refused = apply()
    assert f"fields that another client changed too: ConfigMap {SPACE}/{CONF}: data.{KEY}" in refused["msg"]
    assert conf(apply.cluster) == "edited\n"
    assert apply(adopt=True)["changed"]
    assert "conformance" in conf(apply.cluster)


def test_a_new_release_changes_what_it_says_and_runs_its_job_again(apply: Task_) -> None:
    apply()
    apply.text = TEXT.replace("v1.14.0", "v1.14.1")
    checked, result = apply(check=True), apply()
    assert objects(result) == objects(checked)
    assert objects(result) == [
        f"delete Job {SPACE}/volcano-admission-init",
        f"create Job {SPACE}/volcano-admission-init",
        f"patch Deployment {SPACE}/volcano-admission",
        f"patch Deployment {SPACE}/volcano-scheduler",
    ]
    live_object = apply.cluster.get("Deployment", "volcano-admission", SPACE)
    assert live_object
    (container,) = live_object["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "docker.io/volcanosh/vc-webhook-manager:v1.14.1"
    assert (container["imagePullPolicy"], container["resources"]) == ("IfNotPresent", {"requests": {"cpu": "1"}})
    assert not apply()["changed"]


def test_an_object_that_the_manifest_drops_is_named_and_goes_with_the_rest(apply: Task_) -> None:
    before = apply.cluster.state()
    apply()
    apply.text = TEXT[: TEXT.index("# Source: volcano/templates/default-queue.yaml")]
    assert apply()["remaining"] == ["Queue offline: the manifest does not have it any more"]
    apply.remove(remove_crds=True)
    assert apply.cluster.state() == before


def test_no_secret_is_shown_or_kept_in_the_open(apply: Task_) -> None:
    first = apply()
    apply.text = TEXT.replace("hunter2", "hunter3")
    second = apply()
    assert objects(second) == [f"patch Secret {SPACE}/volcano-pull"]
    (edit,) = second["diff"]
    assert edit["before"] != edit["after"]
    for secret in ("hunter", "aHVudGVyMg==", "aHVudGVyMw=="):
        assert secret not in str(first) + str(second)
    live_object = apply.cluster.get("Secret", "volcano-pull", SPACE)
    assert live_object
    assert live_object["data"] == {"password": "aHVudGVyMw=="}
    assert not apply()["changed"]


def test_a_mirror_gets_every_image(apply: Task_) -> None:
    assert apply(registry="mirror.example:5000")["images"] == [
        "mirror.example:5000/volcanosh/vc-webhook-manager:v1.14.0",
        "mirror.example:5000/library/busybox:1.36",
        "mirror.example:5000/volcanosh/vc-scheduler:v1.14.0",
    ]
    live_object = apply.cluster.get("Deployment", "volcano-scheduler", SPACE)
    assert live_object
    assert (
        live_object["spec"]["template"]["spec"]["initContainers"][0]["image"]
        == "mirror.example:5000/library/busybox:1.36"
    )


def deployment(**different: Any) -> dict[str, Any]:
    """A scheduler that others installed."""
    labels = {"app": "volcano-scheduler"}
    pod = {"containers": [{"name": "volcano-scheduler", "image": "volcanosh/vc-scheduler:v1.12.0"}]}
    spec = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod}}
    metadata = {"name": "volcano-scheduler", "namespace": SPACE, **different}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


def test_what_others_made_is_refused_or_taken_over_and_stays_when_all_goes(apply: Task_) -> None:
    apply.cluster.add({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}}, deployment())
    refused = apply()
    assert f"not created from it: Deployment {SPACE}/volcano-scheduler" in refused["msg"]
    assert apply.cluster.writes == []
    adopted = apply(adopt=True)
    assert f"patch Deployment {SPACE}/volcano-scheduler" in objects(adopted)
    assert not apply()["changed"]
    away = apply.remove(remove_crds=True)
    assert away["remaining"] == [f"Deployment {SPACE}/volcano-scheduler: it existed before the installation"]
    assert {"Deployment volcano-scheduler", f"Namespace {SPACE}"} <= apply.cluster.names()
    live_object = apply.cluster.get("Deployment", "volcano-scheduler", SPACE)
    assert live_object
    assert live_object["metadata"]["annotations"] == {}
    assert not apply.remove(remove_crds=True)["changed"]


def test_pods_that_do_not_run_are_reported_with_reasons_and_nothing_is_registered_for_them(apply: Task_) -> None:
    apply.cluster.stuck["volcano-admission"] = "ImagePullBackOff"
    result = apply()
    assert result["failed"]
    assert (
        f"Deployment {SPACE}/volcano-admission: 0 of 1 pods available"
        " (Pod volcano-admission-1: c ImagePullBackOff the registry says no)" in result["msg"]
    )
    assert "volcano-scheduler:" not in result["msg"]
    assert "Queue offline" not in apply.cluster.names()
    assert apply(check=True)["changed"]
    result = apply(wait=apply.cluster.recover)
    assert [line.split()[1] for line in objects(result)] == ["Queue", "ValidatingWebhookConfiguration"]
    assert not apply()["changed"]


def test_a_job_that_failed_is_not_waited_for(apply: Task_) -> None:
    apply.cluster.failing = True

    def never() -> None:
        pytest.fail("there is nothing to wait for")

    assert f"Job {SPACE}/volcano-admission-init: it failed: backoff" in apply(wait=never)["msg"]


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "another digest": ({"sha256": "sha256:" + "0" * 64}, "the expected sha256 is 0000000000"),
    "no digest": ({"sha256": ""}, "and no expected sha256 is set"),
    "no file": ({"manifest": "/nowhere.yaml"}, "/nowhere.yaml cannot be read: No such file or directory"),
    "no manifest": ({"manifest": None}, "The option manifest is not set"),
    "registry": ({"registry": "https://mirror"}, "registry: 'https://mirror' is not a registry"),
    "no cluster named": ({"cluster_uid": ""}, "set cluster_uid: the-cluster"),
    "another cluster": ({"cluster_uid": "x"}, "leads to the cluster the-cluster, and cluster_uid is x"),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("check", [True, False])
def test_bad_input_is_refused_before_the_first_change(apply: Task_, name: str, check: bool) -> None:
    options, message = WRONG[name]
    result = apply(check=check, **options)
    assert result["failed"]
    assert message in result["msg"]
    assert apply.cluster.writes == []


@pytest.mark.parametrize("check", [True, False])
def test_missing_verbs_are_named_before_the_first_change(apply: Task_, check: bool) -> None:
    apply.cluster.denied = ("create jobs", "create customresourcedefinitions")
    message = apply(check=check)["msg"]
    assert (
        "may not create customresourcedefinitions.apiextensions.k8s.io; create jobs.batch in volcano-system" in message
    )
    assert apply.cluster.writes == []


def test_apis_that_the_server_does_not_have_are_named_with_their_lines(apply: Task_) -> None:
    apply.text = TEXT.replace("apiVersion: batch/v1", "apiVersion: batch/v9").replace(
        "\nkind: Queue\n", "\nkind: Job\n"
    )
    message = apply()["msg"]
    assert f"does not serve {apply.directory}/volcano.yaml:111: Job in batch/v9" in message
    assert apply.cluster.writes == []


@pytest.mark.parametrize("cut", range(16))
def test_a_run_that_is_cut_off_is_completed_by_the_next_and_can_be_taken_away(apply: Task_, cut: int) -> None:
    before = apply.cluster.state()
    apply.cluster.cut = cut
    assert apply()["failed"]
    apply.cluster.cut = None
    if cut % 2:
        assert "failed" not in apply()
        assert not apply()["changed"]
    apply.remove(remove_crds=True)
    assert apply.cluster.state() == before


def test_a_lost_inventory_is_written_again(apply: Task_) -> None:
    before = apply.cluster.state()
    apply()
    del apply.cluster.objects["ConfigMap", "kube-system", "volcano-colocation-manifest-volcano"]
    again = apply()
    assert (again["changed"], again["changes"]) == (True, [])
    assert not apply()["changed"]
    apply.remove(remove_crds=True)
    assert apply.cluster.state() == before


def test_a_schema_is_shown_by_its_digest_and_a_field_that_goes_as_gone(apply: Task_) -> None:
    apply()
    old, new = "x-kubernetes-preserve-unknown-fields: true", "x-kubernetes-preserve-unknown-fields: false"
    apply.text = TEXT.replace(old, new, 1).replace("  replicas: 1\n", "", 1)
    schema, replicas = apply()["diff"]
    assert "openAPIV3Schema: sha256:" in schema["before"]
    assert "preserve-unknown" not in str(schema)
    assert replicas["before_header"] == f"Deployment {SPACE}/volcano-admission"
    assert (replicas["before"], replicas["after"]) == ("spec:\n  replicas: 1\n", "{}\n")


def test_what_a_manifest_says_in_other_words_is_noted(apply: Task_) -> None:
    apply()
    apply.text = TEXT.replace("cpu: 1000m", "cpu: 1")
    (edit,) = apply()["diff"]
    assert "colocation.volcano.sh/manifest-applied: sha256:" in edit["before"]
    assert edit["before"] != edit["after"]
    assert not apply()["changed"]


def test_a_foreign_job_is_created_again_when_it_is_adopted(apply: Task_) -> None:
    job = {"metadata": {"name": "volcano-admission-init", "namespace": SPACE}, "spec": {"backoffLimit": 1}}
    apply.cluster.add({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}})
    apply.cluster.add({"apiVersion": "batch/v1", "kind": "Job", **job})
    assert f"not created from it: Job {SPACE}/volcano-admission-init" in apply()["msg"]
    changes = objects(apply(adopt=True))
    assert [change for change in changes if " Job " in change] == [
        f"delete Job {SPACE}/volcano-admission-init",
        f"create Job {SPACE}/volcano-admission-init",
    ]
    assert not apply()["changed"]


def test_an_object_that_lost_our_mark_is_not_taken_away(apply: Task_) -> None:
    apply()
    service = apply.cluster.get("Service", "volcano-admission-service", SPACE)
    assert service
    apply.cluster.add({**service, "metadata": {"name": "volcano-admission-service", "namespace": SPACE}})
    remaining = apply.remove(remove_crds=True)["remaining"]
    assert remaining == [
        f"Service {SPACE}/volcano-admission-service: it is not managed any more",
        f"Namespace {SPACE}: it also contains Service volcano-admission-service",
    ]


def test_crds_stay_and_can_go_later(apply: Task_) -> None:
    before = apply.cluster.state()
    apply()
    away = apply.remove()
    kind = "CustomResourceDefinition"
    assert apply.cluster.names() == {
        "Namespace kube-system",
        "ConfigMap volcano-colocation-manifest-volcano",
        f"{kind} queues.scheduling.volcano.sh",
        f"{kind} podgroups.scheduling.volcano.sh",
    }
    assert [line.partition(":")[0] for line in away["remaining"]] == [
        f"{kind} queues.scheduling.volcano.sh",
        f"{kind} podgroups.scheduling.volcano.sh",
    ]
    assert not apply.remove()["changed"]
    apply.remove(remove_crds=True)
    assert apply.cluster.state() == before


def test_nothing_goes_while_volcano_has_work(apply: Task_) -> None:
    apply()
    work = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup"}
    apply.cluster.add({**work, "metadata": {"name": "train", "namespace": "science"}})
    state = apply.cluster.state()
    refused = apply.remove(remove_crds=True)
    assert "Volcano is in use: 1 Jobs and PodGroups exist, for example PodGroup science/train" in refused["msg"]
    assert apply.cluster.state() == state
    assert "failed" not in apply.remove(remove_in_use=True)


def test_a_namespace_with_somebody_elses_things_stays(apply: Task_) -> None:
    apply()
    apply.cluster.add({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "mine", "namespace": SPACE}})
    away = apply.remove(remove_crds=True)
    assert away["remaining"] == [f"Namespace {SPACE}: it also contains ConfigMap mine"]
    assert {"ConfigMap mine", f"Secret {SECRET}"} <= apply.cluster.names()
    assert "Deployment volcano-scheduler" not in apply.cluster.names()
    assert not apply.remove(remove_crds=True)["changed"]


def test_prometheus_gets_the_namespace_that_its_manifest_does_not_name(apply: Task_) -> None:
    before = apply.cluster.state()
    apply.text = (FIXTURES / "prometheus.yaml.txt").read_text(encoding="utf-8")
    assert "volcano.yaml:23: Deployment prometheus-deployment has no namespace" in apply()["msg"]
    result = apply(name="prometheus", namespace="monitoring")
    assert objects(result) == [
        "create Namespace monitoring",
        "create ConfigMap monitoring/prometheus-server-conf",
        "create Service monitoring/prometheus",
        "create Deployment monitoring/prometheus-deployment",
    ]
    assert not apply(name="prometheus", namespace="monitoring")["changed"]
    assert not apply.remove()["changed"]
    apply.remove(name="prometheus")
    assert apply.cluster.state() == before
