# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the state of a cluster's scheduling, and combine the changes of a plan with those of its journal."""

from __future__ import annotations

from dataclasses import dataclass

from ..kube.dynamic_client import Client
from ..kube.identity import cluster_uid
from ..kube.last_applied import record_change
from ..kube.object_changes import ObjectChange, deletion_of
from ..kube.objects import ConfigMap, Object, Ref
from . import installed_volcano
from .admission_policies import GROUP, MUTATING, VALIDATING, VERSIONS
from .installed_volcano import REQUIRED_CRDS, SchedulerState
from .priority_classes import API as CLASSES
from .queues import API as QUEUES
from .scheduling_plan import SchedulerPlan, SchedulingRestorePlan
from .target_spec import TargetSpec
from .volcano_conf import Metrics, RequiredObject, availability_problem, find_metrics, required_object

CRD, CRD_KIND = "apiextensions.k8s.io/v1", "CustomResourceDefinition"


@dataclass(frozen=True)
class SchedulerCluster:
    """Reads the state of one cluster's scheduling."""

    client: Client

    def read_state(self, target: TargetSpec) -> SchedulerState:
        """The input of the plan: only objects that the target needs are read."""
        uid = cluster_uid(self.client)
        record = self.client.find(journal_ref(target.namespace))
        conf = self.client.find(Ref("v1", "ConfigMap", target.configmap, target.namespace)) if target.conf else None
        volcano = target.needs_volcano
        crds = {
            name: self.client.find(Ref(CRD, "CustomResourceDefinition", name))
            for name in (REQUIRED_CRDS if volcano else ())
        }
        deployment = Ref("apps/v1", "Deployment", target.deployment, target.namespace)
        versions, policies = self._policies(target)
        return SchedulerState(
            uid,
            installed_volcano.parse_journal(ConfigMap.of(record)),
            record["metadata"]["resourceVersion"] if record else None,
            ConfigMap.of(conf),
            self.client.find(deployment) if volcano else None,
            {name: crd for name, crd in crds.items() if crd is not None},
            tuple(self.client.list_objects(CLASSES, "PriorityClass") or ()) if target.classes else (),
            tuple(self.client.list_objects(QUEUES, "Queue") or ()) if volcano else (),
            policies,
            versions,
            self._source(find_metrics(target.conf, _config_text(conf, target.key))),
        )

    def read_recorded_state(self, namespace: str) -> SchedulerState:
        """The current state of the objects in the journal."""
        uid = cluster_uid(self.client)
        record = self.client.find(journal_ref(namespace))
        journal = installed_volcano.parse_journal(ConfigMap.of(record))
        conf = self.client.find(journal.text.ref) if journal.text else None
        objects = (self.client.find(entry.ref) for entry in journal.entries)
        return SchedulerState(
            uid,
            journal,
            record["metadata"]["resourceVersion"] if record else None,
            ConfigMap.of(conf),
            other_objects=tuple(live for live in objects if live is not None),
        )

    def _policies(self, target: TargetSpec) -> tuple[dict[str, tuple[str, ...]], tuple[Object, ...]]:
        """(served versions of each requested kind, the policies and bindings of the newest version)."""
        versions: dict[str, tuple[str, ...]] = {}
        objects: list[Object] = []
        admission = target.admission
        requested = {VALIDATING: admission.validate, MUTATING: admission.mutate} if admission else {}
        for kind in (kind for kind, is_requested in requested.items() if is_requested):
            for version in VERSIONS[kind]:
                policies = self.client.list_objects(f"{GROUP}/{version}", kind)
                if policies is not None:
                    bindings = self.client.list_objects(f"{GROUP}/{version}", f"{kind}Binding") or ()
                    versions[kind] = (version,)
                    objects += [*policies, *bindings]
                    break
        return versions, tuple(objects)

    def _source(self, metrics: Metrics | None) -> str | None:
        """Why the source of metrics is not available; '' where it is, None where that cannot be determined."""
        required = required_object(metrics) if metrics else None
        return (
            availability_problem(required, self.client.find(required.ref))
            if isinstance(required, RequiredObject)
            else None
        )


def journal_ref(namespace: str) -> Ref:
    return Ref("v1", "ConfigMap", installed_volcano.JOURNAL_NAME, namespace)


def plan_changes(plan: SchedulerPlan, namespace: str, version: str | None) -> tuple[ObjectChange, ...]:
    """The change of the journal, which has this version, and then the changes that it records."""
    if not plan.changes:
        return ()
    record = record_change(journal_ref(namespace), installed_volcano.render_journal(plan.journal), version)
    return (record, *plan.objects, *((plan.text,) if plan.text else ()))


def restore_changes(plan: SchedulingRestorePlan, namespace: str) -> tuple[ObjectChange, ...]:
    """The changes that restore, and then the deletion of the journal, which is not needed any more."""
    if not plan.changes:
        return ()
    return (*((plan.text,) if plan.text else ()), *plan.objects, deletion_of(journal_ref(namespace), None))


def _config_text(config_map: Object | None, key: str) -> str | None:
    text: str | None = ((config_map or {}).get("data") or {}).get(key)
    return text
