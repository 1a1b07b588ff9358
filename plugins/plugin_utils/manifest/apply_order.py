# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kinds of objects, and the order in which they are created."""

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
"""Built-in kinds without a namespace; the kinds of admissionregistration.k8s.io have none either."""

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
    """Objects of one stage may need objects of earlier stages."""

    NAMESPACES = 0
    CRDS = 1
    ACCESS = 2
    WORKLOADS = 3
    CUSTOM = 4
    WEBHOOKS = 5


def stage_of(ref: Ref) -> Stage:
    """The stage of an object. Webhooks come last: until their server answers, they refuse objects of other stages."""
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
    """The sort key of an object; objects of one rank stay in the order of the manifest."""
    stage = stage_of(ref)
    sort = (ref.group, ref.kind)
    kinds: tuple[tuple[str, str], ...] = ()
    if stage is Stage.ACCESS:
        kinds = (("scheduling.k8s.io", "PriorityClass"), ("", "ServiceAccount"), *_ACCESS)
    elif stage is Stage.WORKLOADS:
        kinds = _WORKLOADS
    return stage, kinds.index(sort) if sort in kinds else len(kinds)


def is_cluster_wide(ref: Ref) -> bool:
    """Whether an object of a built-in kind has no namespace."""
    return (ref.group, ref.kind) in CLUSTER_WIDE or ref.group == "admissionregistration.k8s.io"


def is_built_in(ref: Ref) -> bool:
    """Whether the kind is part of Kubernetes: its group has no dot, or ends in .k8s.io."""
    return "." not in ref.group or ref.group.endswith(".k8s.io")


WORKLOAD_CRDS: Mapping[str, tuple[str, str]] = {
    "jobs.batch.volcano.sh": ("batch.volcano.sh", "Job"),
    "podgroups.scheduling.volcano.sh": ("scheduling.volcano.sh", "PodGroup"),
}
"""CRDs whose objects are user workloads, which are not scheduled any more without Volcano."""


NAMESPACE_CONTENT_KINDS: tuple[tuple[str, str], ...] = (
    *(("v1", kind) for kind in ("Pod", "ConfigMap", "Secret", "Service", "PersistentVolumeClaim")),
    *(("apps/v1", kind) for kind in ("Deployment", "DaemonSet", "StatefulSet")),
    ("batch/v1", "Job"),
)
"""Kinds of objects that a user loses with their namespace."""
