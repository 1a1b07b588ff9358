# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a drain asks an API server: the Python client itself, which knows evictions; kubernetes.core has no such way."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..kubeadm.model import ClusterError
from ..rollout.budgets import read_budgets
from ..rollout.pods import Pod, Rules, judge

Object = Mapping[str, Any]
NODES = "/api/v1/nodes"
GONE, CONFLICT, TOO_MANY = 404, 409, 429
TIMEOUT = (10, 30)
"""Seconds to connect, and for an answer."""


class NodeApi:
    """One API server, with the versions of its policy API."""

    def __init__(self, kubeconfig: str, rules: Rules) -> None:
        try:
            from kubernetes import client, config
        except ImportError as error:
            raise ClusterError(
                "The Python library kubernetes is needed on the controller to drain a node",
                "Install it for the Python that runs ansible, and run again.",
            ) from error
        self._kubeconfig, self._rules = kubeconfig, rules
        self._refused: type[Exception] = client.ApiException
        try:
            self._client = config.new_client_from_config(kubeconfig)
        except config.ConfigException as error:
            raise ClusterError(f"{kubeconfig} is no kubeconfig: {error}", "Nothing was changed.") from error
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
        status, answer = self._request("POST", path, body=review)
        found = self._judged("create selfsubjectaccessreviews", status, answer)
        return bool((found.get("status") or {}).get("allowed"))

    def nodes(self) -> list[Object]:
        found: list[Object] = self._ask("list nodes", "GET", NODES)["items"]
        return found

    def node(self, name: str) -> Object:
        return self._ask(f"get nodes {name}", "GET", f"{NODES}/{name}")

    def known(self, name: str) -> Object | None:
        """A Node that may not be there."""
        status, answer = self._request("GET", f"{NODES}/{name}")
        return None if status == GONE else self._judged(f"get nodes {name}", status, answer)

    def pods(self, name: str) -> tuple[Pod, ...]:
        _eviction, policy = self._policy()
        query = [("fieldSelector", f"spec.nodeName={name}")]
        found = self._ask("list pods", "GET", "/api/v1/pods", query)["items"]
        where = f"/apis/policy/{policy}/poddisruptionbudgets"
        budgets = read_budgets(self._ask("list poddisruptionbudgets", "GET", where)["items"], policy)
        return judge(found, budgets, self._rules)

    def patch(self, name: str, body: Object) -> bool:
        status, answer = self._request("PATCH", f"{NODES}/{name}", body=body)
        if status == CONFLICT:
            return False
        self._judged(f"patch nodes {name}", status, answer)
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
        status, answer = self._request("POST", path, body=body)
        if status == TOO_MANY:
            budget = f" (PodDisruptionBudget {pod.waits_for})" if pod.waits_for else ""
            return f"{_message(answer)}{budget}"
        if status in (GONE, CONFLICT):
            return "it has gone by itself"
        self._judged(f"create pods/eviction {pod}", status, answer)
        return ""

    def _policy(self) -> tuple[str, str]:
        """(apiVersion of an Eviction, version of budgets): policy/v1 came with 1.21 and 1.22."""
        if self._versions is None:
            core = self._ask("read /api/v1", "GET", "/api/v1")["resources"]
            found: Object = next((each for each in core if each["name"] == "pods/eviction"), {})
            groups = self._ask("read /apis/policy", "GET", "/apis/policy")["versions"]
            served = [each["version"] for each in groups]
            eviction = f"{found.get('group', 'policy')}/{found.get('version', 'v1beta1')}"
            self._versions = eviction, "v1" if "v1" in served else "v1beta1"
        return self._versions

    def _ask(self, what: str, method: str, path: str, query: list[tuple[str, str]] | None = None) -> Object:
        return self._judged(what, *self._request(method, path, query=query))

    def _request(
        self, method: str, path: str, *, query: list[tuple[str, str]] | None = None, body: Object | None = None
    ) -> tuple[int, Object]:
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        try:
            answer = self._client.call_api(
                path,
                method,
                query_params=query or [],
                header_params={"Accept": "application/json", "Content-Type": kind},
                body=body,
                auth_settings=["BearerToken"],
                _preload_content=False,
                _return_http_data_only=True,
                _request_timeout=TIMEOUT,
            )
        except self._refused as error:
            status = int(getattr(error, "status", 0) or 0)
            return status, _parsed(getattr(error, "body", "") or str(getattr(error, "reason", "")))
        except Exception as error:  # urllib3 has several families of them, and is not imported here.
            raise self._silent(str(error)) from error
        return int(answer.status), _parsed(answer.data)

    def _judged(self, what: str, status: int, answer: Object) -> Object:
        if 200 <= status < 300:
            return answer
        if status in (401, 403):
            raise ClusterError(
                f"The user of {self._kubeconfig} may not {what}: {_message(answer)}",
                "Grant it; docs/rollout.md lists all verbs.",
            )
        if not status:
            raise self._silent(_message(answer))
        raise ClusterError(
            f"Could not {what} with {self._kubeconfig}: {status}, {_message(answer)}",
            "Look at the API server, and whether the kubeconfig leads to it.",
        )

    def _silent(self, why: str) -> ClusterError:
        return ClusterError(
            f"The API server of {self._kubeconfig} could not be asked: {why.splitlines()[0] if why else 'no answer'}",
            "Look at the server and at the way to it, and run again.",
        )


def _parsed(text: str | bytes) -> Object:
    try:
        found = json.loads(text)
    except ValueError:
        return {"message": text.decode(errors="replace") if isinstance(text, bytes) else text}
    return found if isinstance(found, dict) else {"message": str(found)}


def _message(answer: Object) -> str:
    return str(answer.get("message") or answer.get("reason") or "no reason given").strip()
