# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""All that a run writes, held against the schemas of each Kubernetes; a version without a kind is not asked for it.

Queues are left out: their schema is that of Volcano's CRD, which no Kubernetes carries.
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
"""The version of its API that each Kubernetes gets a kind in. One that is not here gets nothing of the kind."""
VOLCANO = ("scheduling.volcano.sh/v1beta1",)
LEVELS = [
    {"level": "HLS", "priority_class": "hls"},
    {"level": "LS"},
    {"level": "BE", "priority_class": BE["name"], "node_labels": {"volcano.sh/oversubscription": "true"}},
]
HLS = {**BE, "name": "hls", "value": 1000, "preemption_policy": "PreemptLowerPriority", "description": "Pods of HLS"}
WANTED = options(
    priority_classes=[BE, HLS],
    queues=[{"name": "batch", "weight": 2}],
    usage=filled("usage"),
    metrics=filled("metrics", address="http://192.0.2.1:9090"),
    admission=filled("admission", levels=LEVELS),
)


@pytest.fixture(autouse=True, scope="module")
def _once() -> Iterator[None]:
    """A version's schemas are one file of 1.6 MB, which would be read anew for each object."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kubernetes_validate.utils, "schema_contents", cache(kubernetes_validate.utils.schema_contents))
        yield


def judge(manifest: Stored, version: str) -> None:
    assert kubernetes_validate.validate(manifest, version, strict=True).startswith(version)


def is_carried(api_version: str, kind: str, version: str) -> bool:
    """Whether there is a schema at all: an empty object breaks it."""
    try:
        kubernetes_validate.validate({"apiVersion": api_version, "kind": kind, "spec": 0}, version)
    except kubernetes_validate.SchemaNotFoundError:
        return False
    except kubernetes_validate.ValidationError:
        pass
    return True


@dataclass
class OfVersion(Server):
    """An API server that has the kinds of its Kubernetes, and takes nothing that its schemas do not know."""

    kubernetes: str = ""
    judged: list[str] = field(default_factory=list)

    def serves(self, api_version: str, kind: str) -> bool:
        known = api_version in VOLCANO or is_carried(api_version, kind, self.kubernetes)
        return known and super().serves(api_version, kind)

    def write(self, verb: str, definition: Stored, *, dry: bool) -> Stored:
        if definition["apiVersion"] in VOLCANO:
            return super().write(verb, definition, dry=dry)
        if verb == "create":
            judge(definition, self.kubernetes)
        self.judged.append(definition["kind"])
        found = super().write(verb, definition, dry=dry)
        judge(found, self.kubernetes)
        return found


def cluster(version: str) -> OfVersion:
    apis = tuple(f"admissionregistration.k8s.io/{each}" for each in ("v1", "v1beta1", "v1alpha1"))
    found = OfVersion(kubernetes=version, apis=(*VOLCANO, *apis))
    conf = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": MAP, "namespace": SPACE}, "data": {KEY: TEXT}}
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system", "uid": UID}}
    found.add(conf, space, deployment(), *(crd(name, *FIELDS) for name in REQUIRED_CRDS))
    return found


def run(found: OfVersion, given: Mapping[str, Any]) -> SchedulerPlan:
    """As the module does it."""
    cluster = SchedulerCluster(found.client())
    seen = cluster.read_state(parse_target_spec(given))
    plan = plan_scheduling(parse_target_spec(given), seen, UID)
    apply_permitted(cluster.client, plan_changes(plan, SPACE, seen.journal_version))
    return plan


def chosen(kind: str, version: str) -> str | None:
    return next((api for api, kubernetes in CHOSEN[kind].items() if version in kubernetes), None)


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_takes_all_that_is_written_and_is_asked_for_nothing_that_it_lacks(version: str) -> None:
    found = cluster(version)
    plan = run(found, WANTED)
    for kind, pairs in ((VALIDATING, 1), (MUTATING, len(LEVELS))):
        api = chosen(kind, version)
        made = [(each.ref.kind, each.ref.api_version) for each in plan.objects if each.ref.kind.startswith(kind)]
        one = [(kind, f"admissionregistration.k8s.io/{api}"), (f"{kind}Binding", f"admissionregistration.k8s.io/{api}")]
        assert made == (one * pairs if api else [])
        assert any(each.startswith(f"{kind}: ") for each in plan.unsupported) is (api is None)
    # The journal and the scheduler's own ConfigMap beside the objects of the plan, less the queue.
    assert len(found.judged) == 2 + len(plan.objects) - 1
    assert not run(found, WANTED).changes


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_takes_what_a_change_of_the_wishes_makes_of_it(version: str) -> None:
    found = cluster(version)
    run(found, WANTED)
    other = filled("admission", levels=LEVELS[:2], action="Warn", scheduler="", excluded_namespaces=[])
    plan = run(found, {**WANTED, "admission": other, "priority_classes": [{**HLS, "description": "Others"}]})
    kinds = {each.ref.kind for each in plan.objects if each.operation is Operation.PATCH}
    assert kinds >= {"PriorityClass", *(f"{VALIDATING}{end}" for end in ("", "Binding") if chosen(VALIDATING, version))}
    assert (MUTATING in kinds) is bool(chosen(MUTATING, version))


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_takes_what_an_installation_adds(version: str) -> None:
    """The inventory, the namespace that a manifest takes for granted, and our annotations on what it has."""
    text = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: volcano-scheduler}\n"
    document = parse_document("volcano.yaml", text, ManifestOptions(namespace=SPACE))
    plan = manifest_plan(document, ManifestSeen(UID), "volcano", "volcano.yaml", adopt=False)
    assert [each.ref.place for each in plan.changes] == [
        f"Namespace {SPACE}",
        f"ServiceAccount {SPACE}/volcano-scheduler",
    ]
    for each in plan.changes:
        assert each.body["metadata"]["annotations"]
        judge(dict(each.body), version)
    judge({**inventory_ref("volcano").header(), "data": plan.inventory.written()}, version)


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [("PriorityClass", {"values": 1}), (VALIDATING, {"spec": {"rules": []}}), (MUTATING, {"spec": 1})],
)
def test_a_wrong_field_is_seen(kind: str, wrong: dict[str, Any]) -> None:
    plan = run(cluster("1.36"), WANTED)
    made = next(dict(each.body) for each in plan.objects if each.ref.kind == kind)
    judge(made, "1.36")
    with pytest.raises(kubernetes_validate.ValidationError):
        judge({**made, **wrong}, "1.36")
