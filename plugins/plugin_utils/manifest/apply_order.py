# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What kinds of objects there are, and in which order they are made."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

from ..kube.objects import Ref

RBAC_GROUP = "rbac.authorization.k8s.io"
WEBHOOK_KINDS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
BINDING_KINDS = ("ClusterRoleBinding", "RoleBinding")
ROLE_KINDS = ("ClusterRole", "Role")
CLUSTER_WIDE: frozenset[tuple[str, str]] = frozenset(
    (
        ("", "Namespace"),
        ("", "Node"),
        ("", "PersistentVolume"),
        (RBAC_GROUP, "ClusterRole"),
        (RBAC_GROUP, "ClusterRoleBinding"),
        ("apiextensions.k8s.io", "CustomResourceDefinition"),
        ("apiregistration.k8s.io", "APIService"),
        ("flowcontrol.apiserver.k8s.io", "FlowSchema"),
        ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"),
        ("networking.k8s.io", "IngressClass"),
        ("node.k8s.io", "RuntimeClass"),
        ("policy", "PodSecurityPolicy"),
        ("scheduling.k8s.io", "PriorityClass"),
        ("storage.k8s.io", "CSIDriver"),
        ("storage.k8s.io", "StorageClass"),
    )
)
"""Of the built-in kinds those without a namespace; all kinds of admissionregistration.k8s.io have none either."""

_ACCESS = (
    *((RBAC_GROUP, kind) for kind in (*ROLE_KINDS, *BINDING_KINDS)),
    *(("", kind) for kind in ("ConfigMap", "Secret", "Service", "PersistentVolume", "PersistentVolumeClaim")),
)
_WORKLOADS = (
    ("batch", "Job"),
    *(("apps", kind) for kind in ("Deployment", "DaemonSet", "StatefulSet", "ReplicaSet")),
    ("batch", "CronJob"),
    ("", "Pod"),
)
_BUILT_IN = ("autoscaling", "networking.k8s.io", "policy", "scheduling.k8s.io", "storage.k8s.io")


class Stage(IntEnum):
    """Objects of one stage may need those of the stages before it."""

    NAMESPACES = 0
    CRDS = 1
    ACCESS = 2
    WORKLOADS = 3
    CUSTOM = 4
    WEBHOOKS = 5


def stage_of(ref: Ref) -> Stage:
    """Webhooks come last: what they judge is refused until their server answers, custom resources among it."""
    sort = (ref.group, ref.kind)
    if sort == ("", "Namespace"):
        return Stage.NAMESPACES
    if sort == ("apiextensions.k8s.io", "CustomResourceDefinition"):
        return Stage.CRDS
    if sort in _WORKLOADS:
        return Stage.WORKLOADS
    if ref.kind in WEBHOOK_KINDS or ref.group == "admissionregistration.k8s.io":
        return Stage.WEBHOOKS
    built_in = ref.group in ("", RBAC_GROUP, *_BUILT_IN)
    return Stage.ACCESS if built_in else Stage.CUSTOM


def apply_rank(ref: Ref) -> tuple[int, int]:
    """By what objects are sorted; those of one rank stay in the order of the manifest."""
    found = stage_of(ref)
    sort = (ref.group, ref.kind)
    kinds: tuple[tuple[str, str], ...] = ()
    if found is Stage.ACCESS:
        kinds = (("scheduling.k8s.io", "PriorityClass"), ("", "ServiceAccount"), *_ACCESS)
    elif found is Stage.WORKLOADS:
        kinds = _WORKLOADS
    return found, kinds.index(sort) if sort in kinds else len(kinds)


def is_cluster_wide(ref: Ref) -> bool:
    """Of a built-in kind."""
    return (ref.group, ref.kind) in CLUSTER_WIDE or ref.group == "admissionregistration.k8s.io"


def is_built_in(ref: Ref) -> bool:
    """Whether Kubernetes itself has the kind: its groups have no dot, or end so."""
    return "." not in ref.group or ref.group.endswith(".k8s.io")


WORKLOAD_CRDS: Mapping[str, tuple[str, str]] = {
    "jobs.batch.volcano.sh": ("batch.volcano.sh", "Job"),
    "podgroups.scheduling.volcano.sh": ("scheduling.volcano.sh", "PodGroup"),
}
"""CRDs whose objects are somebody's work, which nobody would schedule any more."""


NAMESPACE_CONTENT_KINDS: tuple[tuple[str, str], ...] = (
    *(("v1", kind) for kind in ("Pod", "ConfigMap", "Secret", "Service", "PersistentVolumeClaim")),
    *(("apps/v1", kind) for kind in ("Deployment", "DaemonSet", "StatefulSet")),
    ("batch/v1", "Job"),
)
"""What somebody would miss if its namespace went."""
