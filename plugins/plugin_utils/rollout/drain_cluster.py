# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a drain asks an API server: Nodes, their pods with budgets, and evictions."""

from __future__ import annotations

from ..kube.client import Client
from ..kube.errors import CONFLICT, NOT_FOUND, TOO_MANY, ApiError, ClusterError
from ..kube.objects import Object, Ref
from ..kube.permissions import RequiredPermission, require_permissions
from .budgets import Budget, read_budgets
from .pods import Pod, Rules, judge

PERMISSIONS = (RequiredPermission("patch", "", "nodes"), RequiredPermission("create", "", "pods", "eviction"))
"""Those of a drain that writes; what reads reports itself."""


class DrainCluster:
    """One cluster, and which of its pods a drain may evict."""

    def __init__(self, client: Client, rules: Rules) -> None:
        self.client, self._rules = client, rules

    def require_permissions(self) -> None:
        """ClusterError with every permission of a drain that the user does not have."""
        require_permissions(self.client, PERMISSIONS)

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
        return judge(found, self.budgets() if budgets is None else budgets, self._rules)

    def budgets(self) -> tuple[Budget, ...]:
        """Those of the whole cluster. policy/v1 is served since Kubernetes 1.21."""
        for version in ("v1", "v1beta1"):
            found = self.client.list_objects(f"policy/{version}", "PodDisruptionBudget")
            if found is not None:
                return read_budgets(found, version)
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
                budget = f" (PodDisruptionBudget {pod.waits_for})" if pod.waits_for else ""
                return f"{error.reason}{budget}"
            if error.status in (NOT_FOUND, CONFLICT):
                return "it has gone by itself"
            raise
        return ""
