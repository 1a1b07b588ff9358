# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What kinds of objects there are, and in which order they are made."""

from __future__ import annotations

from enum import IntEnum

from ..kube.objects import Ref

RBAC = "rbac.authorization.k8s.io"
WEBHOOKS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
BINDINGS = ("ClusterRoleBinding", "RoleBinding")
ROLES = ("ClusterRole", "Role")
CLUSTER_WIDE: frozenset[tuple[str, str]] = frozenset(
    (
        ("", "Namespace"),
        ("", "Node"),
        ("", "PersistentVolume"),
        (RBAC, "ClusterRole"),
        (RBAC, "ClusterRoleBinding"),
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
    *((RBAC, kind) for kind in (*ROLES, *BINDINGS)),
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


def stage(ref: Ref) -> Stage:
    """Webhooks come last: what they judge is refused until their server answers, custom resources among it."""
    sort = (ref.group, ref.kind)
    if sort == ("", "Namespace"):
        return Stage.NAMESPACES
    if sort == ("apiextensions.k8s.io", "CustomResourceDefinition"):
        return Stage.CRDS
    if sort in _WORKLOADS:
        return Stage.WORKLOADS
    if ref.kind in WEBHOOKS or ref.group == "admissionregistration.k8s.io":
        return Stage.WEBHOOKS
    built_in = ref.group in ("", RBAC, *_BUILT_IN)
    return Stage.ACCESS if built_in else Stage.CUSTOM


def rank(ref: Ref) -> tuple[int, int]:
    """By what objects are sorted; those of one rank stay in the order of the manifest."""
    found = stage(ref)
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
