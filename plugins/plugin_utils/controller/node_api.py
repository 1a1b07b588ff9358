# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a drain asks an API server: Nodes, their pods with budgets, and evictions."""

from __future__ import annotations

from ..kubeadm.model import ClusterError
from ..rollout.budgets import Budget, read_budgets
from ..rollout.pods import Pod, Rules, judge
from .rest import CONFLICT, GONE, REFUSED, SILENT, TOO_MANY, Answer, Object, Query, Rest

NODES = "/api/v1/nodes"


class NodeApi:
    """One API server, with the versions of its policy API."""

    def __init__(self, kubeconfig: str, rules: Rules) -> None:
        self._rest = Rest(kubeconfig)
        self._kubeconfig, self._rules = kubeconfig, rules
        self._versions: tuple[str, str] | None = None

    def demand(self) -> None:
        """ClusterError with every verb of a drain that the user does not have; what reads says so itself."""
        needs = (("patch", "nodes", ""), ("create", "pods", "eviction"))
        lacks = [need for need in needs if not self._may(*need)]
        if lacks:
            told = "; ".join(f"{verb} {resource}{sub and '/' + sub}" for verb, resource, sub in lacks)
            raise ClusterError(
                f"The user of {self._kubeconfig} may not {told}",
                "Nothing was changed. Grant it; docs/rollout.md lists all verbs.",
            )

    def _may(self, verb: str, resource: str, subresource: str) -> bool:
        attributes = {"verb": verb, "resource": resource, "subresource": subresource}
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": attributes},
        }
        path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
        found = self._judged("create selfsubjectaccessreviews", self._rest.request("POST", path, body=review))
        return bool((found.get("status") or {}).get("allowed"))

    def nodes(self) -> list[Object]:
        found: list[Object] = self._ask("list nodes", NODES)["items"]
        return found

    def node(self, name: str) -> Object:
        return self._ask(f"get nodes {name}", f"{NODES}/{name}")

    def known(self, name: str) -> Object | None:
        """A Node that may not be there."""
        answer = self._rest.request("GET", f"{NODES}/{name}")
        return None if answer.status == GONE else self._judged(f"get nodes {name}", answer)

    def pods(self, name: str, budgets: tuple[Budget, ...] | None = None) -> tuple[Pod, ...]:
        """Those of a Node, under the budgets as they are now unless some are given."""
        found = self._ask("list pods", "/api/v1/pods", (("fieldSelector", f"spec.nodeName={name}"),))["items"]
        return judge(found, self.budgets() if budgets is None else budgets, self._rules)

    def budgets(self) -> tuple[Budget, ...]:
        """Those of the whole cluster."""
        _eviction, policy = self._policy()
        where = f"/apis/policy/{policy}/poddisruptionbudgets"
        return read_budgets(self._ask("list poddisruptionbudgets", where)["items"], policy)

    def patch(self, name: str, body: Object) -> bool:
        answer = self._rest.request("PATCH", f"{NODES}/{name}", body=body)
        if answer.status == CONFLICT:
            return False
        self._judged(f"patch nodes {name}", answer)
        return True

    def evict(self, pod: Pod) -> str:
        eviction, _policy = self._policy()
        body = {
            "apiVersion": eviction,
            "kind": "Eviction",
            "metadata": {"name": pod.name, "namespace": pod.namespace},
            "deleteOptions": {"preconditions": {"uid": pod.uid}},
        }
        path = f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}/eviction"
        answer = self._rest.request("POST", path, body=body)
        if answer.status == TOO_MANY:
            budget = f" (PodDisruptionBudget {pod.waits_for})" if pod.waits_for else ""
            return f"{answer.message}{budget}"
        if answer.status in (GONE, CONFLICT):
            return "it has gone by itself"
        self._judged(f"create pods/eviction {pod}", answer)
        return ""

    def _policy(self) -> tuple[str, str]:
        """(apiVersion of an Eviction, version of budgets): policy/v1 came with 1.21 and 1.22."""
        if self._versions is None:
            core = self._ask("read /api/v1", "/api/v1")["resources"]
            found: Object = next((each for each in core if each["name"] == "pods/eviction"), {})
            groups = self._ask("read /apis/policy", "/apis/policy")["versions"]
            served = [each["version"] for each in groups]
            eviction = f"{found.get('group', 'policy')}/{found.get('version', 'v1beta1')}"
            self._versions = eviction, "v1" if "v1" in served else "v1beta1"
        return self._versions

    def _ask(self, what: str, path: str, query: Query = ()) -> Object:
        return self._judged(what, self._rest.request("GET", path, query=query))

    def _judged(self, what: str, answer: Answer) -> Object:
        if answer.good:
            return answer.body
        if answer.status in REFUSED:
            raise ClusterError(
                f"The user of {self._kubeconfig} may not {what}: {answer.message}",
                "Grant it; docs/rollout.md lists all verbs.",
            )
        if answer.status == SILENT:
            raise ClusterError(
                f"The API server of {self._kubeconfig} could not be asked: {answer.message}",
                "Look at the server and at the way to it, and run again.",
            )
        raise ClusterError(
            f"Could not {what} with {self._kubeconfig}: {answer.status}, {answer.message}",
            "Look at the API server, and whether the kubeconfig leads to it.",
        )
