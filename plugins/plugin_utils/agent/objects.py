# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""All other objects that the agent needs, and what it may do in the cluster.

The rules are those of volcano installer/helm/chart/volcano/templates/agent.yaml, but for Secrets, which it asks for
nowhere in what was read of cmd/agent and pkg/agent, and for ConfigMaps, which it reads and makes in its own namespace
only (pkg/agent/config/source/configmap_source.go).
"""

from __future__ import annotations

from typing import Any

from .names import ACCOUNT, APP_LABEL, NAME, OWNER, OWNER_LABEL
from .options import MemoryQos

Object = dict[str, Any]
RBAC = "rbac.authorization.k8s.io"
LABELS = {APP_LABEL: NAME, OWNER_LABEL: OWNER}
CONFIG_API, CONFIG_KIND = "config.volcano.sh/v1alpha1", "ColocationConfiguration"

CLUSTER_RULES: list[Object] = [
    {"apiGroups": [""], "resources": ["nodes", "nodes/status"], "verbs": ["get", "list", "watch", "update", "patch"]},
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]},
    {"apiGroups": [""], "resources": ["pods/eviction"], "verbs": ["create"]},
    {"apiGroups": [""], "resources": ["events"], "verbs": ["list", "watch", "create", "update", "patch"]},
]
NAMESPACE_RULES: list[Object] = [
    {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch", "create", "update"]},
]


def namespace(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {OWNER_LABEL: OWNER}}}


def access(name_space: str) -> tuple[Object, ...]:
    """The ServiceAccount and what it may do, in the order they are made."""
    subject = {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": name_space}
    return (
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": _metadata(name_space)},
        _role("ClusterRole", _metadata(), CLUSTER_RULES),
        _binding("ClusterRoleBinding", _metadata(), "ClusterRole", subject),
        _role("Role", _metadata(name_space), NAMESPACE_RULES),
        _binding("RoleBinding", _metadata(name_space), "Role", subject),
    )


def _metadata(name_space: str | None = None) -> Object:
    found: Object = {"name": ACCOUNT, "labels": dict(LABELS)}
    return {**found, "namespace": name_space} if name_space else found


def _role(kind: str, metadata: Object, rules: list[Object]) -> Object:
    return {"apiVersion": f"{RBAC}/v1", "kind": kind, "metadata": metadata, "rules": rules}


def _binding(kind: str, metadata: Object, role: str, subject: Object) -> Object:
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": kind,
        "metadata": metadata,
        "roleRef": {"apiGroup": RBAC, "kind": role, "name": metadata["name"]},
        "subjects": [subject],
    }


def colocation_configuration(memory: MemoryQos) -> Object:
    """config/crd/volcano/bases/config.volcano.sh_colocationconfigurations.yaml, from Volcano 1.14 on."""
    return {
        "apiVersion": CONFIG_API,
        "kind": CONFIG_KIND,
        "metadata": {"name": memory.name, "namespace": memory.namespace, "labels": {OWNER_LABEL: OWNER}},
        "spec": {
            "selector": dict(memory.selector),
            "memoryQos": {"highRatio": memory.high, "lowRatio": memory.low, "minRatio": memory.least},
        },
    }
