# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects of the API: their identity, their content, and merge patches with their inverse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Object = Mapping[str, Any]
ObjectKey = tuple[str, str, str | None, str]
"""Group, kind, namespace and name."""
_IDENTITY = ("apiVersion", "kind")
_OMITTED: Mapping[str, Object] = {
    "PriorityClass": {"globalDefault": False, "description": "", "preemptionPolicy": "PreemptLowerPriority"}
}
"""Fields that a server omits from responses when they have these values (k8s.io/api scheduling/v1, omitempty)."""


@dataclass(frozen=True)
class Ref:
    """Identifies an object. Unlike its kind and its name, the version of its API may change with the server."""

    api_version: str
    kind: str
    name: str
    namespace: str | None = None

    @classmethod
    def of(cls, manifest: Object) -> Ref:
        metadata = manifest["metadata"]
        return cls(manifest["apiVersion"], manifest["kind"], metadata["name"], metadata.get("namespace"))

    @property
    def group(self) -> str:
        return self.api_version.partition("/")[0] if "/" in self.api_version else ""

    @property
    def resource(self) -> str:
        """The plural that RBAC rules use."""
        lower = self.kind.lower()
        if lower.endswith("s"):
            return f"{lower}es"
        return f"{lower[:-1]}ies" if lower.endswith("y") else f"{lower}s"

    @property
    def place(self) -> str:
        """The object's name in messages."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"

    def describe(self, verb: str, subresource: str = "") -> str:
        """A request in the terms of RBAC rules, for example: get daemonsets.apps NAME in NAMESPACE."""
        below = f"/{subresource}" if subresource else ""
        group = f".{self.group}" if self.group else ""
        where = f" in {self.namespace}" if self.namespace else ""
        return f"{verb} {self.resource}{below}{group}{f' {self.name}' if self.name else ''}{where}"

    def header(self, **metadata: Any) -> dict[str, Any]:
        """A manifest with only apiVersion, kind and metadata."""
        where = {"namespace": self.namespace} if self.namespace else {}
        return {"apiVersion": self.api_version, "kind": self.kind, "metadata": {"name": self.name, **where, **metadata}}

    @property
    def key(self) -> ObjectKey:
        """The object's identity without the version of its API."""
        return self.group, self.kind, self.namespace, self.name

    def same(self, other: Ref) -> bool:
        return self.key == other.key


@dataclass(frozen=True)
class ConfigMap:
    """A ConfigMap as it was read; ``version`` is its resourceVersion."""

    name: str
    data: Mapping[str, str]
    version: str
    namespace: str

    @classmethod
    def of(cls, manifest: Object | None) -> ConfigMap | None:
        """The ConfigMap of a manifest; None for None."""
        if manifest is None:
            return None
        metadata = manifest["metadata"]
        return cls(
            metadata["name"], manifest.get("data") or {}, metadata.get("resourceVersion", ""), metadata["namespace"]
        )

    @property
    def ref(self) -> Ref:
        return Ref("v1", "ConfigMap", self.name, self.namespace)

    @property
    def place(self) -> str:
        """The ConfigMap's name in messages."""
        return self.ref.place


def body(manifest: Object) -> dict[str, Any]:
    """A manifest's content without its identity and status; of its metadata only labels and annotations."""
    content = {key: value for key, value in manifest.items() if key not in (*_IDENTITY, "metadata", "status")}
    notes = {key: value for key, value in manifest["metadata"].items() if key in ("labels", "annotations")}
    usual = _OMITTED.get(manifest.get("kind", ""), {})
    return {**usual, **content, "metadata": notes} if notes else {**usual, **content}


def removal_patch(document: Object) -> dict[str, Any]:
    """The merge patch that removes all fields of a document. An empty mapping is a value: emptyDir: {}."""
    return {
        key: removal_patch(value) if isinstance(value, Mapping) and value else None for key, value in document.items()
    }


def undo_patch(before: Object, change: Object) -> dict[str, Any]:
    """The merge patch that reverts ``change``; ``before`` is the document before it."""
    result: dict[str, Any] = {}
    for key, value in change.items():
        now = before.get(key)
        both = isinstance(value, Mapping) and isinstance(now, Mapping)
        result[key] = undo_patch(now, value) if both else now  # type: ignore[arg-type]
    return result


def apply_patch(document: Any, change: Object) -> dict[str, Any]:
    """A document after a merge patch."""
    result = dict(document) if isinstance(document, Mapping) else {}
    for key, value in change.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, Mapping):
            result[key] = apply_patch(result.get(key), value)
        else:
            result[key] = value
    return result


def combine_undo(first: Object, later: Object) -> dict[str, Any]:
    """Combine two inverse patches. Where both have a field, the first one counts: it has the oldest value."""
    result = dict(later)
    for key, value in first.items():
        below = result.get(key)
        result[key] = combine_undo(value, below) if isinstance(value, Mapping) and isinstance(below, Mapping) else value
    return result


def project(document: Any, shape: Any) -> Any:
    """The part of a document whose fields ``shape`` has too: a diff has no line that only the server wrote."""
    if isinstance(shape, Mapping) and isinstance(document, Mapping):
        return {key: project(document[key], value) for key, value in shape.items() if key in document}
    if isinstance(shape, list) and isinstance(document, list) and len(document) == len(shape):
        return [project(one, other) for one, other in zip(document, shape, strict=True)]
    return document
