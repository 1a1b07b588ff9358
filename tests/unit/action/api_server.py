# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What requests come to on an API server in memory, for the module that makes them.

It keeps objects, versions and dry runs as a server does, and judges nothing. What a real server says is tried on one.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.volcano.colocation.plugins.plugin_utils.controller.requests import LOOK
from ansible_collections.volcano.colocation.plugins.plugin_utils.scheduler.objects import Ref, patched

Answer = dict[str, Any]
BUILT_IN = ("v1", "apps/v1", "scheduling.k8s.io/v1", "apiextensions.k8s.io/v1", "authorization.k8s.io/v1")


@dataclass
class Server:
    """``denied``: verbs on resources. ``apis``: what is served beside the built-in ones. ``cut``: writes left."""

    apis: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    cut: int | None = None
    objects: dict[tuple[str, str | None, str], Answer] = field(default_factory=dict)
    writes: list[str] = field(default_factory=list)
    version: int = 0

    def add(self, *manifests: Mapping[str, Any]) -> None:
        for each in manifests:
            self._store(Ref.of(each), copy.deepcopy(dict(each)))

    def get(self, kind: str, name: str, namespace: str | None = None) -> Answer | None:
        return self.objects.get((kind, namespace, name))

    def state(self) -> dict[tuple[str, str | None, str], Answer]:
        """Everything but the versions."""
        found = copy.deepcopy(self.objects)
        for each in found.values():
            each["metadata"].pop("resourceVersion", None)
        return found

    def execute(self, module: str, arguments: Mapping[str, Any], *, dry: bool) -> Answer:
        if module == LOOK:
            return self._read(arguments)
        definition = copy.deepcopy(arguments["definition"])
        if definition["kind"] == "SelfSubjectAccessReview":
            wanted = definition["spec"]["resourceAttributes"]
            allowed = f"{wanted['verb']} {wanted['resource']}" not in self.denied
            return {"result": {**definition, "status": {"allowed": allowed}}}
        return self._write(definition, arguments.get("state", "present"), dry=dry)

    def _read(self, asked: Mapping[str, Any]) -> Answer:
        if asked["api_version"] not in (*BUILT_IN, *self.apis):
            return {"resources": [], "api_found": False, "msg": "Failed to find API"}
        found: Iterable[Answer] = (
            each for (kind, _space, _name), each in self.objects.items() if kind == asked["kind"]
        )
        if "name" in asked:
            one = self.get(asked["kind"], asked["name"], asked.get("namespace"))
            found = [one] if one else []
        return {"api_found": True, "resources": [{**copy.deepcopy(each), "kind": "x"} for each in found]}

    def _write(self, definition: Answer, state: str, *, dry: bool) -> Answer:
        ref = Ref.of(definition)
        found = self.get(ref.kind, ref.name, ref.namespace)
        version = definition["metadata"].pop("resourceVersion", None)
        if found and version not in (None, found["metadata"]["resourceVersion"]):
            return {"failed": True, "status": 409, "msg": "Failed to patch: it has been modified"}
        if dry:
            return {"result": definition}
        if self.cut is not None:
            if not self.cut:
                return {"failed": True, "msg": "Failed: the connection was lost"}
            self.cut -= 1
        self.writes.append(f"{state} {ref.place}")
        if state == "absent":
            self.objects.pop((ref.kind, ref.namespace, ref.name), None)
            return {"result": {}}
        self._store(ref, patched(found or {}, definition))
        return {"result": definition}

    def _store(self, ref: Ref, manifest: Answer) -> None:
        if ref.kind == "PriorityClass":
            manifest = {key: value for key, value in manifest.items() if value is not False and value != ""}
        self.version += 1
        manifest["metadata"] = {**manifest["metadata"], "resourceVersion": str(self.version)}
        self.objects[ref.kind, ref.namespace, ref.name] = manifest
