# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""An API server for one Node, as far as a drain asks one: real requests, answers of the shape that Kubernetes gives.

Source of its responses to an eviction: pkg/registry/core/pod/storage/eviction.go.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Protocol

from ansible_collections.volcano.colocation.plugins.plugin_utils.drain.evictable_pods import EvictionRules
from ansible_collections.volcano.colocation.plugins.plugin_utils.drain.eviction_api import DrainCluster
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.api_errors import ErrorContext
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.dynamic_client import Client
from ansible_collections.volcano.colocation.tests.support.clusters.api_discovery import (
    EVICTION,
    REVIEWS,
    Kinds,
    discover,
)

Object = dict[str, Any]


def observed(
    needs: Sequence[str] = ("drain", "restart kubelet"), *, cut_off: Sequence[str] = (), **identity: Any
) -> Object:
    """Return the fields read here of what the entry point observe of the role node registers on the Node's host."""
    known = {"names": ["n1"], "machine_id_sha256": None, "boot_id": "boot", "kubeadm": True, "main_file": True}
    return {
        "observation": "x",
        "plan": {"impact": list(needs), "pending": [], "refusals": []},
        "facts": {"unfinished_transactions": list(cut_off)},
        "kubeadm": {**known, "fields": [], **identity},
    }


def owned(kind: str, name: str = "web") -> list[Object]:
    return [{"kind": kind, "name": name, "controller": True}]


def pod(name: str, owner: str = "ReplicaSet", **more: Any) -> Object:
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}", "labels": {"app": "web"}}
    owners = {"ownerReferences": owned(owner)} if owner else {}
    return {
        "metadata": {**metadata, **owners, **more.pop("metadata", {})},
        "spec": more,
        "status": {"phase": "Running"},
    }


def budget(name: str = "web", allowed: int = 1, **selector: Any) -> Object:
    return {
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": selector or {"matchLabels": {"app": "web"}}},
        "status": {"disruptionsAllowed": allowed},
    }


def node_object(annotations: Mapping[str, str] | None = None, *, cordoned: bool = False, ready: bool = True) -> Object:
    return {
        "metadata": {"name": "n1", "resourceVersion": "7", "annotations": dict(annotations or {})},
        "spec": {"unschedulable": True} if cordoned else {},
        "status": {
            "nodeInfo": {"bootID": "boot", "machineID": "m", "kubeletVersion": "v1.30.0"},
            "conditions": [{"type": "Ready", "status": "True" if ready else "Unknown"}],
        },
    }


def reached(path: Path, rules: EvictionRules = EvictionRules()) -> DrainCluster:  # noqa: B008
    """Return the cluster of a kubeconfig."""
    return DrainCluster(Client(ErrorContext(str(path), "docs/rollout.md", "")), rules)


@dataclass
class ApiServer:
    """``allowed``: remaining disruptions. ``lingers``: how many lists of pods still show an evicted pod."""

    pods: list[Object] = field(default_factory=list)
    budgets: list[Object] = field(default_factory=list)
    allowed: int = 100
    lingers: int = 1
    conflicts: int = 0
    policy: tuple[str, ...] = ("v1", "v1beta1")
    refuses: dict[str, int] = field(default_factory=dict)
    node: Object = field(default_factory=node_object)
    log: list[str] = field(default_factory=list)
    version: int = 7

    def respond(self, method: str, path: str, body: Object) -> tuple[int, Object]:
        place = path.partition("?")[0]
        for part, status in self.refuses.items():
            if part in f"{method} {place}":
                return status, {"message": f"no, {status}"}
        if method != "GET" and "selfsubject" not in place:
            self.log.append(f"{method} {place}")
        discovered = discover(place, self._kinds(), {**EVICTION, "version": self.policy[0]})
        if discovered is not None:
            return 200, discovered
        if place.endswith("/eviction"):
            return self._evict(place.split("/")[-2], body)
        if method == "PATCH":
            return self._patch(body)
        documents: dict[str, Object] = {
            "/api/v1/nodes": {"items": [self.node]},
            "/api/v1/nodes/n1": self.node,
            f"/apis/policy/{self.policy[0]}/poddisruptionbudgets": {"items": self.budgets},
            "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews": {"status": {"allowed": True}},
        }
        if place == "/api/v1/pods":
            return 200, {"items": self._looked_at()}
        return (200, documents[place]) if place in documents else (404, {"message": "not found"})

    def _kinds(self) -> Kinds:
        budgets = {
            f"policy/{version}": {"poddisruptionbudgets": ("PodDisruptionBudget", True)} for version in self.policy
        }
        return {"v1": {"nodes": ("Node", False), "pods": ("Pod", True)}, **budgets, **REVIEWS}

    def _looked_at(self) -> list[Object]:
        visible = [pod for pod in self.pods if pod["metadata"].get("looks", 1) > 0]
        for pod in visible:
            if "deletionTimestamp" in pod["metadata"]:
                pod["metadata"]["looks"] -= 1
        self.pods = visible
        return visible

    def _evict(self, name: str, body: Object) -> tuple[int, Object]:
        target = next((pod for pod in self.pods if pod["metadata"]["name"] == name), None)
        if target is None:
            return 404, {"message": "not found"}
        if body["deleteOptions"]["preconditions"]["uid"] != target["metadata"]["uid"]:
            return 409, {"message": "another uid"}
        if self.allowed < 1:
            return 429, {"message": "Cannot evict pod as it would violate the pod's disruption budget."}
        self.allowed -= 1
        target["metadata"].update(deletionTimestamp="now", looks=self.lingers)
        return 201, {"status": "Success"}

    def _patch(self, body: Object) -> tuple[int, Object]:
        if self.conflicts or body["metadata"]["resourceVersion"] != self.node["metadata"]["resourceVersion"]:
            self.conflicts -= 1
            return 409, {"message": "the object has been modified"}
        marks = {**self.node["metadata"]["annotations"], **body["metadata"]["annotations"]}
        spec = {**self.node["spec"], **body["spec"]}
        self.version += 1
        annotations = {key: value for key, value in marks.items() if value is not None}
        self.node["metadata"].update(annotations=annotations, resourceVersion=str(self.version))
        self.node["spec"] = {key: value for key, value in spec.items() if value is not None}
        return 200, self.node


class Responder(Protocol):
    """A server that responds to requests at the address of the kubeconfig."""

    def respond(self, method: str, path: str, body: Object) -> tuple[int, Object]: ...


@contextmanager
def serving(server: Responder, directory: Path) -> Iterator[Path]:
    """Yield the path of a kubeconfig for the server."""

    class Handler(BaseHTTPRequestHandler):
        def _do(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length) or b"{}")
            status, document = server.respond(self.command, self.path, body)
            text = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _do

        def log_message(self, *_arguments: Any) -> None:
            """Nothing."""

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=httpd.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield kubeconfig(directory, f"http://127.0.0.1:{httpd.server_port}")
    finally:
        httpd.shutdown()
        httpd.server_close()


def kubeconfig(directory: Path, address: str) -> Path:
    def named(kind: str, value: Mapping[str, str]) -> list[Object]:
        return [{"name": "x", kind: dict(value)}]

    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "x",
        "clusters": named("cluster", {"server": address}),
        "contexts": named("context", {"cluster": "x", "user": "x"}),
        "users": named("user", {"token": "t"}),
    }
    path = directory / "kubeconfig"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path
