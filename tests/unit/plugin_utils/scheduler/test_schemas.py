# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""All objects that a run writes, checked with the schemas of each Kubernetes; no version gets a kind that it lacks.

Queues are not checked: their schema is in Volcano's CRD, which is not part of Kubernetes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import kubernetes_validate
import kubernetes_validate.utils
import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.object_changes import Operation, apply_permitted
from ansible_collections.volcano.colocation.plugins.plugin_utils.manifest.apply_plan import plan_apply as manifest_plan
from ansible_collections.volcano.colocation.plugins.plugin_utils.manifest.inventory import ManifestState as ManifestSeen
from ansible_collections.volcano.colocation.plugins.plugin_utils.manifest.inventory import inventory_ref
from ansible_collections.volcano.colocation.plugins.plugin_utils.manifest.yaml_documents import (
    ManifestOptions,
    parse_document,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.scheduler.admission_policies import (
    MUTATING,
    VALIDATING,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.scheduler.cluster_access import (
    SchedulerCluster,
    plan_changes,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.scheduler.installed_volcano import REQUIRED_CRDS
from ansible_collections.volcano.colocation.plugins.plugin_utils.scheduler.scheduling_plan import (
    SchedulerPlan,
    plan_scheduling,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.scheduler.target_spec import parse_target_spec
from ansible_collections.volcano.colocation.tests.support.clusters.memory_api_server import Server, Stored
from ansible_collections.volcano.colocation.tests.support.clusters.scheduler_confs import TEXT
from ansible_collections.volcano.colocation.tests.support.clusters.volcano_clusters import (
    BE,
    FIELDS,
    KEY,
    MAP,
    UID,
    crd,
    deployment,
    filled,
    options,
)

SPACE = "volcano-system"
VERSIONS = [f"1.{minor}" for minor in range(25, 38)]
CHOSEN: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    VALIDATING: {"v1": tuple(VERSIONS[5:])},
    MUTATING: {"v1alpha1": ("1.32", "1.33"), "v1beta1": ("1.34", "1.35"), "v1": ("1.36", "1.37")},
}
"""The API version in which each Kubernetes gets a kind. Other versions of Kubernetes do not get the kind."""
VOLCANO = ("scheduling.volcano.sh/v1beta1",)
LEVELS = [
    {"level": "HLS", "priority_class": "hls"},
    {"level": "LS"},
    {"level": "BE", "priority_class": BE["name"], "node_labels": {"volcano.sh/oversubscription": "true"}},
]
HLS = {**BE, "name": "hls", "value": 1000, "preemption_policy": "PreemptLowerPriority", "description": "Pods of HLS"}
OPTIONS = options(
    priority_classes=[BE, HLS],
    queues=[{"name": "batch", "weight": 2}],
    usage=filled("usage"),
    metrics=filled("metrics", address="http://192.0.2.1:9090"),
    admission=filled("admission", levels=LEVELS),
)


@pytest.fixture(autouse=True, scope="module")
def _once() -> Iterator[None]:
    """A version's schemas are one file of 1.6 MB, which would be read again for each object."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kubernetes_validate.utils, "schema_contents", cache(kubernetes_validate.utils.schema_contents))
        yield


def validate_manifest(manifest: Stored, version: str) -> None:
    assert kubernetes_validate.validate(manifest, version, strict=True).startswith(version)


def has_schema(api_version: str, kind: str, version: str) -> bool:
    """Whether a version has a schema for a kind: then an invalid object is refused."""
    try:
        kubernetes_validate.validate({"apiVersion": api_version, "kind": kind, "spec": 0}, version)
    except kubernetes_validate.SchemaNotFoundError:
        return False
    except kubernetes_validate.ValidationError:
        pass
    return True


@dataclass
class OfVersion(Server):
    """An API server with the kinds of its Kubernetes, which refuses objects that its schemas do not allow."""

    kubernetes: str = ""
    validated: list[str] = field(default_factory=list)

    def serves(self, api_version: str, kind: str) -> bool:
        known = api_version in VOLCANO or has_schema(api_version, kind, self.kubernetes)
        return known and super().serves(api_version, kind)

    def write(self, verb: str, definition: Stored, *, dry: bool) -> Stored:
        if definition["apiVersion"] in VOLCANO:
            return super().write(verb, definition, dry=dry)
        if verb == "create":
            validate_manifest(definition, self.kubernetes)
        self.validated.append(definition["kind"])
        stored = super().write(verb, definition, dry=dry)
        validate_manifest(stored, self.kubernetes)
        return stored


def cluster(version: str) -> OfVersion:
    apis = tuple(f"admissionregistration.k8s.io/{version_name}" for version_name in ("v1", "v1beta1", "v1alpha1"))
    api_server = OfVersion(kubernetes=version, apis=(*VOLCANO, *apis))
    conf = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": MAP, "namespace": SPACE}, "data": {KEY: TEXT}}
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system", "uid": UID}}
    api_server.add(conf, space, deployment(), *(crd(name, *FIELDS) for name in REQUIRED_CRDS))
    return api_server


def run(api_server: OfVersion, settings: Mapping[str, Any]) -> SchedulerPlan:
    """Plan and apply as the module does."""
    cluster = SchedulerCluster(api_server.client())
    state = cluster.read_state(parse_target_spec(settings))
    plan = plan_scheduling(parse_target_spec(settings), state, UID)
    apply_permitted(cluster.client, plan_changes(plan, SPACE, state.journal_version))
    return plan


def chosen(kind: str, version: str) -> str | None:
    return next((api for api, kubernetes in CHOSEN[kind].items() if version in kubernetes), None)


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_accepts_all_objects_and_gets_no_kind_that_it_lacks(version: str) -> None:
    api_server = cluster(version)
    plan = run(api_server, OPTIONS)
    for kind, pairs in ((VALIDATING, 1), (MUTATING, len(LEVELS))):
        api = chosen(kind, version)
        made = [
            (change.ref.kind, change.ref.api_version) for change in plan.objects if change.ref.kind.startswith(kind)
        ]
        one = [(kind, f"admissionregistration.k8s.io/{api}"), (f"{kind}Binding", f"admissionregistration.k8s.io/{api}")]
        assert made == (one * pairs if api else [])
        assert any(reason.startswith(f"{kind}: ") for reason in plan.unsupported) is (api is None)
    # The journal, the scheduler's ConfigMap and the objects of the plan, without the queue.
    assert len(api_server.validated) == 2 + len(plan.objects) - 1
    assert not run(api_server, OPTIONS).changes


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_accepts_changes_of_the_options(version: str) -> None:
    api_server = cluster(version)
    run(api_server, OPTIONS)
    other = filled("admission", levels=LEVELS[:2], action="Warn", scheduler="", excluded_namespaces=[])
    plan = run(api_server, {**OPTIONS, "admission": other, "priority_classes": [{**HLS, "description": "Others"}]})
    kinds = {change.ref.kind for change in plan.objects if change.operation is Operation.PATCH}
    assert kinds >= {"PriorityClass", *(f"{VALIDATING}{end}" for end in ("", "Binding") if chosen(VALIDATING, version))}
    assert (MUTATING in kinds) is bool(chosen(MUTATING, version))


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_accepts_what_an_installation_adds(version: str) -> None:
    """The inventory, the namespace that a manifest uses, and the collection's annotations on its objects."""
    text = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: volcano-scheduler}\n"
    document = parse_document("volcano.yaml", text, ManifestOptions(namespace=SPACE))
    plan = manifest_plan(document, ManifestSeen(UID), "volcano", "volcano.yaml", adopt=False)
    assert [change.ref.place for change in plan.changes] == [
        f"Namespace {SPACE}",
        f"ServiceAccount {SPACE}/volcano-scheduler",
    ]
    for change in plan.changes:
        assert change.body["metadata"]["annotations"]
        validate_manifest(dict(change.body), version)
    validate_manifest({**inventory_ref("volcano").header(), "data": plan.inventory.to_data()}, version)


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [("PriorityClass", {"values": 1}), (VALIDATING, {"spec": {"rules": []}}), (MUTATING, {"spec": 1})],
)
def test_a_wrong_field_is_refused(kind: str, wrong: dict[str, Any]) -> None:
    plan = run(cluster("1.36"), OPTIONS)
    made = next(dict(change.body) for change in plan.objects if change.ref.kind == kind)
    validate_manifest(made, "1.36")
    with pytest.raises(kubernetes_validate.ValidationError):
        validate_manifest({**made, **wrong}, "1.36")
