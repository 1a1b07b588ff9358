# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Manifests parsed into objects: their order and namespaces, and problems with their lines."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.api_errors import ClusterError
from ansible_collections.volcano.colocation.plugins.plugin_utils.manifest.container_images import Image, pod_spec
from ansible_collections.volcano.colocation.plugins.plugin_utils.manifest.yaml_documents import (
    ManifestDocument,
    ManifestOptions,
    parse_document,
    verify_text,
)

FIXTURES = Path(__file__).parents[2] / "fixtures" / "manifests"
VOLCANO = (FIXTURES / "volcano.yaml.txt").read_text(encoding="utf-8")
PROMETHEUS = (FIXTURES / "prometheus.yaml.txt").read_text(encoding="utf-8")
MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n"


def read(text: str, **options: object) -> ManifestDocument:
    return parse_document("m.yaml", text, ManifestOptions(**options))  # type: ignore[arg-type]


def refused(text: str, **options: object) -> str:
    with pytest.raises(ClusterError) as error:
        read(text, **options)
    return str(error.value)


def test_objects_come_in_the_order_in_which_they_need_each_other() -> None:
    kinds = [item.ref.kind for item in read(VOLCANO).items]
    assert list(dict.fromkeys(kinds)) == [
        "Namespace",
        "CustomResourceDefinition",
        "ServiceAccount",
        "ClusterRole",
        "ClusterRoleBinding",
        "ConfigMap",
        "Secret",
        "Service",
        "Job",
        "Deployment",
        "Queue",
        "ValidatingWebhookConfiguration",
    ]


def test_a_list_is_unrolled_and_its_objects_get_a_namespace() -> None:
    document = read(PROMETHEUS, namespace="monitoring")
    assert [item.ref.place for item in document.items] == [
        "ConfigMap monitoring/prometheus-server-conf",
        "Service monitoring/prometheus",
        "Deployment monitoring/prometheus-deployment",
    ]


def test_braces_of_prometheus_are_not_helm_templates() -> None:
    assert "{{ $labels.instance }}" in str(read(PROMETHEUS, namespace="m").items[0].manifest["data"])


def test_objects_without_namespaces_have_none() -> None:
    role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r, namespace: x}\n"
    policy = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: p}\n"
    places = [item.ref.namespace for item in read(f"{role}---\n{policy}", namespace="x").items]
    assert places == [None, None]


def test_a_custom_resource_has_the_scope_of_the_manifests_crd() -> None:
    group = "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: g}\n"
    document = read(VOLCANO + group, namespace="x")
    assert {item.ref.place for item in document.items} >= {"PodGroup x/g", "Queue offline"}
    other = "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: r, namespace: there}\n"
    assert [item.ref.place for item in read(other, namespace="x").items] == ["PrometheusRule there/r"]


def test_secrets_are_encoded_as_the_server_stores_them() -> None:
    text = "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: b}\ndata: {k: 'YWJj\n  ZGVm'}\n"
    (secret,) = read(text + "stringData: {p: hunter2}\n").items
    assert secret.manifest["data"] == {"k": "YWJjZGVm", "p": "aHVudGVyMg=="}
    assert "stringData" not in secret.manifest
    (empty,) = read("apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: b}\n").items
    assert "data" not in empty.manifest


HOOKS = {"pre-install,pre-upgrade": 1, "post-delete": 0, "crd-install": 1, "test": 0, "pre-rollback, pre-delete": 0}


@pytest.mark.parametrize("hook", HOOKS)
def test_only_helm_hooks_for_an_installation_are_created(hook: str) -> None:
    text = MAP.replace("namespace: b}", f"namespace: b, annotations: {{helm.sh/hook: '{hook}'}}}}")
    document = read(text)
    assert (len(document.items), len(document.unsupported)) == (HOOKS[hook], 1 - HOOKS[hook])


INVALID = {
    "no YAML": (f"{MAP}---\na: [\n", "m.yaml:6: "),
    "duplicate keys": (
        f"{MAP}data: {{}}\ndata: {{}}\n",
        "m.yaml:5: key 'data' is set twice, first in line 4 (Keep",
    ),
    "nothing": ("# only this\n---\n", "m.yaml: it has no object"),
    "no apiVersion": ("kind: A\nmetadata: {name: a}\n", "m.yaml:1: an object without apiVersion"),
    "no kind": ("\n\napiVersion: v1\nmetadata: {name: a}\n", "m.yaml:3: an object without kind"),
    "no name": ("---\n# c\napiVersion: v1\nkind: A\nmetadata: {}\n", "m.yaml:3: an object without metadata.name"),
    "no metadata": ("apiVersion: v1\nkind: A\n", "m.yaml:1: an object without metadata.name"),
    "no object in a list": ("apiVersion: v1\nkind: List\nitems: [3]\n", "m.yaml:1: an object without apiVersion"),
    "twice": (f"{MAP}---\n{MAP}", "m.yaml:5: ConfigMap b/a is defined twice, first in line 1"),
    "values": (f"{MAP}data:\n  a: '{{{{ .Values.a }}}}'\n", "m.yaml:5: a Helm template that is not rendered"),
    "name": (MAP.replace("name: a", "name: '{{ x }}'"), "m.yaml:1: metadata.name is a template that is not rendered"),
    "a block": (f"{MAP}data:\n  {{{{ if x }}}}\n", "m.yaml:5: a template that is not rendered"),
    "a word that YAML takes for no": (
        MAP.replace("namespace: b", "namespace: n"),
        "m.yaml:1: metadata.namespace is not a string",
    ),
    "no namespace": (MAP.replace(", namespace: b", ""), "m.yaml:1: ConfigMap a has no namespace"),
}


@pytest.mark.parametrize("name", INVALID)
def test_every_problem_is_named_with_its_line(name: str) -> None:
    text, problem = INVALID[name]
    assert problem in refused(text)
    assert "Nothing was changed, and no request was sent to an API server." in refused(text)


def test_all_problems_are_named_together() -> None:
    message = refused(f"{MAP}---\nkind: A\n---\n{MAP}---\nb: {{{{ c\n")
    assert [part.partition(": ")[0] for part in message.split("; ")] == [
        "m.yaml:8",
        "m.yaml:5",
        "m.yaml:5",
        "m.yaml:6",
    ] or ("m.yaml:5" in message and "m.yaml:7" in message)


def deployment(*images: str) -> str:
    containers = ", ".join(f"{{name: c{number}, image: '{image}'}}" for number, image in enumerate(images))
    head = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, namespace: ns}\n"
    return f"{head}spec: {{template: {{spec: {{containers: [{containers}]}}}}}}\n"


@pytest.mark.parametrize(
    "image", ["busybox", "busybox:latest", "a.example/b:master", "localhost/b", "a.example:5000/b"]
)
def test_unpinned_images_are_refused_unless_they_are_allowed(image: str) -> None:
    assert f"Deployment ns/d: the image {image} has neither a version as its tag nor a digest" in refused(
        deployment(image)
    )
    assert read(deployment(image), allow_unpinned=True).images == (image,)


def test_pinned_images_are_accepted() -> None:
    images = ("busybox:1.36", "a.example:5000/b@sha256:00", "volcanosh/vc-scheduler@sha256:00", "b:v2")
    assert read(deployment(*images)).images == images


def test_releases_of_volcano_that_the_findings_do_not_know_are_refused() -> None:
    message = refused(deployment("volcanosh/vc-scheduler:v1.8.2", "volcanosh/vc-agent:v1.10.0", "other:v1.2"))
    assert "Deployment ns/d: volcanosh/vc-scheduler:v1.8.2 is older than 1.9, the minimum version of Volcano" in message
    assert "volcanosh/vc-agent:v1.10.0 is older than 1.11, the minimum version of Volcano" in message
    current = ("volcanosh/vc-scheduler:v1.9.0", "volcanosh/vc-agent:v1.11.0")
    assert read(deployment(*current)).images == current


def test_releases_of_prometheus_below_the_minimum_are_refused() -> None:
    images = ("quay.io/prometheus/prometheus:v2.6.1", "quay.io/prometheus/node-exporter:v0.15.2")
    message = refused(deployment(*images, "prom/prometheus:v2.7.0", "prom/prometheus@sha256:00"))
    assert f"{images[0]} is older than 2.7, the minimum version of Prometheus" in message
    assert f"{images[1]} is older than 0.16, the minimum version of node_exporter" in message
    assert message.count("is older than") == 2


def test_an_image_that_is_not_rendered_is_named() -> None:
    assert "an image is a template that is not rendered" in refused(deployment("{{ image }}"))


MIRRORED = {
    "busybox:1.36": "m:5000/h/library/busybox:1.36",
    "docker.io/volcanosh/vc-scheduler:v1.14.0": "m:5000/h/volcanosh/vc-scheduler:v1.14.0",
    "quay.io/a/b/c:v1@sha256:00": "m:5000/h/a/b/c:v1@sha256:00",
    "localhost:5000/b:1": "m:5000/h/b:1",
}


@pytest.mark.parametrize("image", MIRRORED)
def test_a_mirror_replaces_only_the_registry(image: str) -> None:
    assert read(deployment(image), registry="m:5000/h").images == (MIRRORED[image],)


WORKLOADS = {
    "Pod": "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: ns}\nspec: {containers: [{image: 'b:1'}]}\n",
    "CronJob": "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: p, namespace: ns}\n"
    "spec: {jobTemplate: {spec: {template: {spec: {initContainers: [{image: 'b:1'}, 3], containers: x}}}}}\n",
    "Job": "apiVersion: batch/v1\nkind: Job\nmetadata: {name: p, namespace: ns}\n"
    "spec: {template: {spec: {containers: [{image: 'b:1'}, {name: none}]}}}\n",
}


@pytest.mark.parametrize("kind", WORKLOADS)
def test_every_kind_of_workload_uses_the_mirror_and_other_fields_stay(kind: str) -> None:
    (item,) = read(WORKLOADS[kind].replace("image: 'b:1'", "image: 'b:1', args: [b:1]"), registry="m").items
    assert "'image': 'm/library/b:1'" in str(item.manifest)
    assert "'args': ['b:1']" in str(item.manifest)


def test_other_kinds_are_not_changed() -> None:
    text = "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: p}\nspec: {containers: [{image: x}]}\n"
    assert "'image': 'x'" in str(read(text, registry="m").items[0].manifest)
    half = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: p, namespace: ns}\nspec: {template: 3}\n"
    assert read(half, registry="m").images == ()


IMAGES = tuple(dict.fromkeys(read(VOLCANO).images))


def test_containers_with_imported_images_pull_none() -> None:
    text = VOLCANO.replace("v1.14.0\n", "v1.14.0\n          imagePullPolicy: Always\n", 1)
    document = read(text, imported_images=tuple(image.removeprefix("docker.io/") for image in IMAGES))
    pods = [pod_spec(item.manifest) for item in document.items if pod_spec(item.manifest)]
    policies = [
        container["imagePullPolicy"]
        for pod in pods
        for container in (*pod["containers"], *pod.get("initContainers", ()))
    ]
    assert policies == ["Never"] * 4
    assert document.images == IMAGES
    assert {item.ref for item in document.items} == {item.ref for item in read(text).items}


def test_a_manifest_with_an_image_that_is_not_imported_is_refused() -> None:
    message = refused(VOLCANO, imported_images=IMAGES[:-1])
    assert message.startswith("m.yaml:")
    assert f"the image {IMAGES[-1]} is not imported from an archive" in message
    assert "colocation_volcano_image_archives" in message


def test_an_image_is_parsed_as_by_docker() -> None:
    assert Image.parse("a/b:c") == Image("docker.io", "a/b", "c", "")
    assert str(Image.parse("b")) == "docker.io/library/b"


def test_a_text_is_accepted_only_with_its_digest() -> None:
    digest = hashlib.sha256(b"\xef\xbb\xbfa: 1\n").hexdigest()
    assert (
        verify_text("m", b"\xef\xbb\xbfa: 1\n", f" SHA256:{digest.upper()}\n".replace("SHA256", "sha256")) == "a: 1\n"
    )
    with pytest.raises(ClusterError, match=f"m has the sha256 {digest}, and the expected sha256 is 00"):
        verify_text("m", b"\xef\xbb\xbfa: 1\n", "00")
    with pytest.raises(ClusterError, match="m:2: a byte that is not UTF-8"):
        verify_text("m", b"a\n\xff", hashlib.sha256(b"a\n\xff").hexdigest())
