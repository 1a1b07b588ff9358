# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a drain needs from an API server: Nodes, their pods with budgets, and evictions."""

from __future__ import annotations

from ..kube.api_errors import CONFLICT, NOT_FOUND, TOO_MANY, ApiError, ClusterError
from ..kube.dynamic_client import Client
from ..kube.objects import Object, Ref
from ..kube.permissions import RequiredPermission, require_permissions
from .evictable_pods import Budget, EvictionRules, Pod, classify_pods, parse_budgets

DRAIN_PERMISSIONS = (RequiredPermission("patch", "", "nodes"), RequiredPermission("create", "", "pods", "eviction"))
"""Those of a drain that writes; what reads reports itself."""


class DrainCluster:
    """One cluster, and which of its pods a drain may evict."""

    def __init__(self, client: Client, rules: EvictionRules) -> None:
        self.client, self._rules = client, rules

    def require_permissions(self) -> None:
        """ClusterError with every permission of a drain that the user does not have."""
        require_permissions(self.client, DRAIN_PERMISSIONS)

    def nodes(self) -> tuple[Object, ...]:
        return self.client.list_all("v1", "Node")

    def node(self, name: str) -> Object:
        found = self.client.find(Ref("v1", "Node", name))
        if found is None:
            raise ClusterError(f"The cluster has no Node {name} any more", "Look at who deleted it, and run again.")
        return found

    def pods(self, name: str, budgets: tuple[Budget, ...] | None = None) -> tuple[Pod, ...]:
        """Those of a Node, under the budgets as they are now unless some are given."""
        found = self.client.list_all("v1", "Pod", fields=f"spec.nodeName={name}")
        return classify_pods(found, self.budgets() if budgets is None else budgets, self._rules)

    def budgets(self) -> tuple[Budget, ...]:
        """Those of the whole cluster. policy/v1 is served since Kubernetes 1.21."""
        for version in ("v1", "v1beta1"):
            found = self.client.list_objects(f"policy/{version}", "PodDisruptionBudget")
            if found is not None:
                return parse_budgets(found, version)
        return ()

    def patch(self, name: str, body: Object) -> bool:
        """False where another client was faster."""
        try:
            self.client.patch({**body, **Ref("v1", "Node", name).header(**body["metadata"])})
        except ApiError as error:
            if error.status == CONFLICT:
                return False
            raise
        return True

    def evict(self, pod: Pod) -> str:
        """Why it may not be evicted now; empty where it may."""
        try:
            self.client.evict(Ref("v1", "Pod", pod.name, pod.namespace), pod.uid)
        except ApiError as error:
            if error.status == TOO_MANY:
                budget = f" (PodDisruptionBudget {pod.blocking_pdb})" if pod.blocking_pdb else ""
                return f"{error.reason}{budget}"
            if error.status in (NOT_FOUND, CONFLICT):
                return "it has gone by itself"
            raise
        return ""
