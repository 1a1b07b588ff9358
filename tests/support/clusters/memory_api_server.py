# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""An API server in memory, for tests of modules that send requests.

It handles objects, versions and dry runs as a server does, without validation. Tests in tests/api use a real server.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.api_errors import ApiError, ErrorContext
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.dynamic_client import Client
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.objects import Object, Ref, apply_patch

Stored = dict[str, Any]
BUILT_IN = ("v1", "apps/v1", "scheduling.k8s.io/v1", "apiextensions.k8s.io/v1", "rbac.authorization.k8s.io/v1")
CONTEXT = ErrorContext("/k.conf", "docs/page.md")


class Refusal(Exception):
    """A status other than success, with its message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass
class Server:
    """``denied``: verbs on resources. ``apis``: served in addition to the built-in ones. ``cut``: remaining writes.

    ``refuses``: requests, as messages name them, that are answered with a status. ``services``: the result of a query,
    by the URL of a Service.
    """

    apis: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    cut: int | None = None
    refuses: dict[str, int] = field(default_factory=dict)
    services: dict[str, Callable[[str], Any]] = field(default_factory=dict)
    objects: dict[tuple[str, str | None, str], Stored] = field(default_factory=dict)
    writes: list[str] = field(default_factory=list)
    reviews: list[Mapping[str, str]] = field(default_factory=list)
    version: int = 0

    def client(self, context: ErrorContext = CONTEXT, *, dry_run: bool = False) -> MemoryClient:
        return MemoryClient(self, context, dry_run=dry_run)

    def add(self, *manifests: Object) -> None:
        for manifest in manifests:
            self._store(Ref.of(manifest), copy.deepcopy(dict(manifest)))

    def get(self, kind: str, name: str, namespace: str | None = None) -> Stored | None:
        return self.objects.get((kind, namespace, name))

    def state(self) -> dict[tuple[str, str | None, str], Stored]:
        """Return all objects without their versions."""
        objects = copy.deepcopy(self.objects)
        for manifest in objects.values():
            manifest["metadata"].pop("resourceVersion", None)
        return objects

    def serves(self, api_version: str, kind: str) -> bool:
        return bool(kind) and api_version in (*BUILT_IN, *self.apis)

    def review(self, attributes: Mapping[str, str]) -> bool:
        self.reviews.append(attributes)
        return f"{attributes['verb']} {attributes['resource']}" not in self.denied

    def write(self, verb: str, definition: Stored, *, dry: bool) -> Stored:
        """Return the object after the write."""
        ref = Ref.of(definition)
        current = self.get(ref.kind, ref.name, ref.namespace)
        version = definition["metadata"].pop("resourceVersion", None)
        if verb == "create" and current:
            raise Refusal(409, "it exists already")
        if verb != "create" and not current:
            raise Refusal(404, "not found")
        if current and version not in (None, current["metadata"]["resourceVersion"]):
            raise Refusal(409, "it has been modified")
        if dry:
            return definition
        if self.cut is not None:
            if not self.cut:
                raise Refusal(500, "the connection was lost")
            self.cut -= 1
        self.writes.append(f"{verb} {ref.place}")
        if verb == "delete":
            self.objects.pop((ref.kind, ref.namespace, ref.name))
            return {}
        self._store(ref, apply_patch(current or {}, definition) if verb == "patch" else definition)
        return copy.deepcopy(self.objects[ref.kind, ref.namespace, ref.name])

    def _store(self, ref: Ref, manifest: Stored) -> None:
        if ref.kind == "PriorityClass":
            manifest = {key: value for key, value in manifest.items() if value is not False and value != ""}
        self.version += 1
        manifest["metadata"] = {**manifest["metadata"], "resourceVersion": str(self.version)}
        self.objects[ref.kind, ref.namespace, ref.name] = manifest


class MemoryClient(Client):
    """Requests to a server in memory."""

    def __init__(self, server: Server, context: ErrorContext, *, dry_run: bool) -> None:
        super().__init__(context, dry_run=dry_run)
        self._server = server

    def _check(self, request: str) -> None:
        if request in self._server.refuses:
            raise ApiError(request, self._server.refuses[request], "no", self.context)

    def find(self, ref: Ref) -> Stored | None:
        self._check(ref.describe("get"))
        stored = self._server.get(ref.kind, ref.name, ref.namespace)
        return copy.deepcopy(stored) if stored and self.serves(ref.api_version, ref.kind) else None

    def serves(self, api_version: str, kind: str) -> bool:
        return self._server.serves(api_version, kind)

    def list_objects(
        self, api_version: str, kind: str, *, namespace: str = "", labels: str = "", fields: str = ""
    ) -> tuple[Stored, ...] | None:
        self._check(Ref(api_version, kind, "", namespace or None).describe("list"))
        if not self.serves(api_version, kind):
            return None
        required = dict(term.split("=") for term in labels.split(",") if term)
        candidates = (stored for (sort, _space, _name), stored in self._server.objects.items() if sort == kind)
        return tuple(
            copy.deepcopy(stored)
            for stored in candidates
            if namespace in ("", stored["metadata"].get("namespace"))
            and required.items() <= (stored["metadata"].get("labels") or {}).items()
        )

    def get_from_service(self, ref: Ref, scheme: str, port: int, path: str, **parameters: str) -> Stored:
        request, url = ref.describe("get", "proxy"), f"{scheme}://{ref.name}.{ref.namespace}.svc:{port}{path}"
        self._check(request)
        if url not in self._server.services:
            raise ApiError(request, 503, f"no endpoints available for service {ref.name}", self.context)
        result: Stored = self._server.services[url](parameters["query"])
        return result

    def create(self, body: Object) -> Stored:
        return self._sent("create", body)

    def patch(self, body: Object, *, subresource: str = "") -> Stored:
        return self._sent("patch", body)

    def delete(self, ref: Ref, *, propagation: str = "") -> None:
        if self._server.get(ref.kind, ref.name, ref.namespace):
            self._sent("delete", ref.header())

    def review(self, attributes: Mapping[str, str]) -> bool:
        return self._server.review(attributes)

    def _sent(self, verb: str, body: Object) -> Stored:
        request = Ref.of(body).describe(verb)
        self._check(request)
        try:
            return self._server.write(verb, copy.deepcopy(dict(body)), dry=self.dry_run)
        except Refusal as refusal:
            raise ApiError(request, refusal.status, str(refusal), self.context) from refusal
