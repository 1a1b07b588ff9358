# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""An API server for the agent's objects, over HTTP: paths, verbs, versions and dry runs are those of Kubernetes.

It has no controllers and no kubelet. Tests against a real server are in tests/api and tests/system.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.objects import apply_patch
from ansible_collections.volcano.colocation.tests.support.clusters.api_discovery import REVIEWS, Kinds, discover

Object = dict[str, Any]
RBAC = "rbac.authorization.k8s.io/v1"
KINDS: Kinds = {
    "v1": {
        "nodes": ("Node", False),
        "namespaces": ("Namespace", False),
        "configmaps": ("ConfigMap", True),
        "serviceaccounts": ("ServiceAccount", True),
        "pods": ("Pod", True),
    },
    "apps/v1": {"daemonsets": ("DaemonSet", True)},
    RBAC: {
        "clusterroles": ("ClusterRole", False),
        "clusterrolebindings": ("ClusterRoleBinding", False),
        "roles": ("Role", True),
        "rolebindings": ("RoleBinding", True),
    },
    **REVIEWS,
}
PLACE = re.compile(
    r"/apis?/(?P<api>v1|[^/]+/[^/]+)(?:/namespaces/(?P<space>[^/]+))?"
    r"/(?P<resource>[^/]+)(?:/(?P<name>[^/]+))?(?:/(?P<below>status))?"
)
VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
Reply = tuple[int, Object]


@dataclass
class AgentServer:
    """``denied``: "verb resource" pairs that the user may not use. ``says``: responses for "verb resource" pairs.

    ``react`` is called with the verb and the object's key after each change: what a controller or an agent does then.
    """

    denied: set[str] = field(default_factory=set)
    says: dict[str, Reply] = field(default_factory=dict)
    objects: dict[tuple[str, str, str], Object] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    reviewed: list[str] = field(default_factory=list)
    version: int = 0
    react: Callable[[str, tuple[str, str, str]], None] = lambda _verb, _key: None

    def add(self, resource: str, manifest: Mapping[str, Any]) -> None:
        metadata = manifest["metadata"]
        self._store((resource, metadata.get("namespace") or "", metadata["name"]), copy.deepcopy(dict(manifest)))

    def get(self, resource: str, name: str, space: str = "") -> Object | None:
        return self.objects.get((resource, space, name))

    def _store(self, key: tuple[str, str, str], manifest: Object) -> None:
        self.version += 1
        manifest["metadata"] = {**manifest["metadata"], "resourceVersion": str(self.version)}
        self.objects[key] = manifest

    def respond(self, method: str, path: str, body: Object) -> Reply:
        asked = urlsplit(path)
        return self._answered(method, asked.path, asked.query, body)

    def _answered(self, method: str, place: str, query: str, body: Object) -> Reply:
        discovered = discover(place, KINDS)
        if discovered is not None:
            return 200, discovered
        match = PLACE.fullmatch(place)
        if not match or match["resource"] not in KINDS.get(match["api"], {}):
            return 404, {"message": "the server could not find the requested resource"}
        resource, space, name = match["resource"], match["space"] or "", match["name"] or ""
        if resource == "selfsubjectaccessreviews":
            return 201, self._review(body)
        verb = VERBS.get(method) or ("get" if name else "list")
        what = f"{verb} {resource}"
        if what in self.denied:
            return 403, {"message": f'{resource} is forbidden: User "u" cannot {verb} resource "{resource}"'}
        if what in self.says:
            return self.says[what]
        if verb in ("get", "list"):
            return self._read(resource, space, name, parse_qs(query).get("labelSelector", [""])[0])
        dry = "dryRun" in query or bool(body.get("dryRun"))
        if not dry:
            self.log.append(f"{what} {name or body['metadata']['name']}")
        return self._write(method, (resource, space, name or body["metadata"]["name"]), body, dry=dry)

    def _review(self, body: Object) -> Object:
        desired = body["spec"]["resourceAttributes"]
        self.reviewed.append(f"{desired['verb']} {desired['resource']}")
        return {**body, "status": {"allowed": self.reviewed[-1] not in self.denied}}

    def _read(self, resource: str, space: str, name: str, selector: str) -> Reply:
        if name:
            one = self.get(resource, name, space)
            return (200, one) if one else (404, {"message": "not found"})
        labels = dict(term.split("=") for term in selector.split(",") if term)
        items = [
            item
            for (kind, where, _name), item in self.objects.items()
            if kind == resource
            and space in ("", where)
            and labels.items() <= (item["metadata"].get("labels") or {}).items()
        ]
        return 200, {"items": items}

    def _write(self, method: str, key: tuple[str, str, str], body: Object, *, dry: bool) -> Reply:
        live = self.objects.get(key)
        if method == "POST":
            after = body
        elif live is None:
            return 404, {"message": "not found"}
        elif method == "DELETE":
            if not dry:
                del self.objects[key]
                self.react("delete", key)
            return 200, {}
        else:
            if body["metadata"].get("resourceVersion") not in (None, live["metadata"]["resourceVersion"]):
                return 409, {"message": "the object has been modified"}
            after = apply_patch(live, body) if method == "PATCH" else body
        if not dry:
            self._store(key, copy.deepcopy(after))
            self.react(VERBS[method], key)
        return 200, after
