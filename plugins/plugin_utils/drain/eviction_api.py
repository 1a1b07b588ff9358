# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests of a drain to an API server: Nodes, their pods with budgets, and evictions."""

from __future__ import annotations

from ..kube.api_errors import CONFLICT, NOT_FOUND, TOO_MANY, ApiError, ClusterError
from ..kube.dynamic_client import Client
from ..kube.objects import Object, Ref
from ..kube.permissions import RequiredPermission, require_permissions
from .evictable_pods import Budget, EvictionRules, Pod, classify_pods, parse_budgets

DRAIN_PERMISSIONS = (RequiredPermission("patch", "", "nodes"), RequiredPermission("create", "", "pods", "eviction"))
"""The permissions that a drain needs to write; a missing read permission is reported by the request itself."""


class DrainCluster:
    """One cluster, with the rules which pods a drain may evict."""

    def __init__(self, client: Client, rules: EvictionRules) -> None:
        self.client, self._rules = client, rules

    def require_permissions(self) -> None:
        """ClusterError with every permission of a drain that the user does not have."""
        require_permissions(self.client, DRAIN_PERMISSIONS)

    def nodes(self) -> tuple[Object, ...]:
        return self.client.list_all("v1", "Node")

    def node(self, name: str) -> Object:
        node = self.client.find(Ref("v1", "Node", name))
        if node is None:
            raise ClusterError(f"The cluster has no Node {name} any more", "Check who deleted it, and run again.")
        return node

    def pods(self, name: str, budgets: tuple[Budget, ...] | None = None) -> tuple[Pod, ...]:
        """The pods of a Node; ``budgets`` are those of the cluster by default."""
        pods = self.client.list_all("v1", "Pod", fields=f"spec.nodeName={name}")
        return classify_pods(pods, self.budgets() if budgets is None else budgets, self._rules)

    def budgets(self) -> tuple[Budget, ...]:
        """The budgets of the whole cluster. policy/v1 is served since Kubernetes 1.21."""
        for version in ("v1", "v1beta1"):
            budgets = self.client.list_objects(f"policy/{version}", "PodDisruptionBudget")
            if budgets is not None:
                return parse_budgets(budgets, version)
        return ()

    def patch(self, name: str, body: Object) -> bool:
        """Patch a Node; False where another client changed it since it was read."""
        try:
            self.client.patch({**body, **Ref("v1", "Node", name).header(**body["metadata"])})
        except ApiError as error:
            if error.status == CONFLICT:
                return False
            raise
        return True

    def evict(self, pod: Pod) -> str:
        """Evict a pod; the reason why it cannot be evicted now, empty where it was."""
        try:
            self.client.evict(Ref("v1", "Pod", pod.name, pod.namespace), pod.uid)
        except ApiError as error:
            if error.status == TOO_MANY:
                budget = f" (PodDisruptionBudget {pod.blocking_pdb})" if pod.blocking_pdb else ""
                return f"{error.reason}{budget}"
            if error.status in (NOT_FOUND, CONFLICT):
                return "it is deleted already"
            raise
        return ""
