# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is read from a cluster for its scheduler, and the changes of a plan together with those of the journal."""

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
    """One cluster, and what of it the scheduler is about."""

    client: Client

    def look(self, wanted: TargetSpec) -> SchedulerState:
        """All that has to be known before anything is planned, and no more than is asked for."""
        uid = cluster_uid(self.client)
        kept = self.client.find(journal_ref(wanted.namespace))
        conf = self.client.find(Ref("v1", "ConfigMap", wanted.configmap, wanted.namespace)) if wanted.conf else None
        volcano = wanted.needs_volcano
        crds = {
            name: self.client.find(Ref(CRD, "CustomResourceDefinition", name))
            for name in (REQUIRED_CRDS if volcano else ())
        }
        deployment = Ref("apps/v1", "Deployment", wanted.deployment, wanted.namespace)
        versions, policies = self._policies(wanted)
        return SchedulerState(
            uid,
            installed_volcano.parse_journal(ConfigMap.of(kept)),
            kept["metadata"]["resourceVersion"] if kept else None,
            ConfigMap.of(conf),
            self.client.find(deployment) if volcano else None,
            {name: crd for name, crd in crds.items() if crd is not None},
            tuple(self.client.list_objects(CLASSES, "PriorityClass") or ()) if wanted.classes else (),
            tuple(self.client.list_objects(QUEUES, "Queue") or ()) if wanted.queues else (),
            policies,
            versions,
            self._source(find_metrics(wanted.conf, _config_text(conf, wanted.key))),
        )

    def read_recorded_state(self, namespace: str) -> SchedulerState:
        """What the journal names, as it is now."""
        uid = cluster_uid(self.client)
        kept = self.client.find(journal_ref(namespace))
        found = installed_volcano.parse_journal(ConfigMap.of(kept))
        conf = self.client.find(found.text.ref) if found.text else None
        others = (self.client.find(each.ref) for each in found.entries)
        return SchedulerState(
            uid,
            found,
            kept["metadata"]["resourceVersion"] if kept else None,
            ConfigMap.of(conf),
            others=tuple(each for each in others if each is not None),
        )

    def _policies(self, wanted: TargetSpec) -> tuple[dict[str, tuple[str, ...]], tuple[Object, ...]]:
        """(versions that the server has of each kind that is asked for, the policies and bindings of the newest)."""
        versions: dict[str, tuple[str, ...]] = {}
        found: list[Object] = []
        admission = wanted.admission
        asked = {VALIDATING: admission.validate, MUTATING: admission.mutate} if admission else {}
        for kind in (kind for kind, is_asked in asked.items() if is_asked):
            for version in VERSIONS[kind]:
                policies = self.client.list_objects(f"{GROUP}/{version}", kind)
                if policies is not None:
                    bindings = self.client.list_objects(f"{GROUP}/{version}", f"{kind}Binding") or ()
                    versions[kind] = (version,)
                    found += [*policies, *bindings]
                    break
        return versions, tuple(found)

    def _source(self, metrics: Metrics | None) -> str | None:
        """Why the source of metrics is not there; '' where it is, None where that cannot be told from here."""
        place = required_object(metrics) if metrics else None
        return availability_problem(place, self.client.find(place.ref)) if isinstance(place, RequiredObject) else None


def journal_ref(namespace: str) -> Ref:
    return Ref("v1", "ConfigMap", installed_volcano.JOURNAL_NAME, namespace)


def plan_changes(plan: SchedulerPlan, namespace: str, version: str | None) -> tuple[ObjectChange, ...]:
    """The journal, which has this version, and then what it is about."""
    if not plan.changes:
        return ()
    record = record_change(journal_ref(namespace), installed_volcano.render_journal(plan.journal), version)
    return (record, *plan.objects, *((plan.text,) if plan.text else ()))


def restore_changes(found: SchedulingRestorePlan, namespace: str) -> tuple[ObjectChange, ...]:
    """What is put back, and then the journal, which is of no use any more."""
    if not found.changes:
        return ()
    return (*((found.text,) if found.text else ()), *found.objects, deletion_of(journal_ref(namespace), None))


def _config_text(found: Object | None, key: str) -> str | None:
    text: str | None = ((found or {}).get("data") or {}).get(key)
    return text
