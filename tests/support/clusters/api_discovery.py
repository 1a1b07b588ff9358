# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Responses of an API server to discovery requests (apimachinery pkg/apis/meta/v1)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from types import MappingProxyType
from typing import Any

Kinds = Mapping[str, Mapping[str, tuple[str, bool]]]
"""By apiVersion, then by resource: (kind, whether it has namespaces)."""
REVIEWS: Kinds = {"authorization.k8s.io/v1": {"selfsubjectaccessreviews": ("SelfSubjectAccessReview", False)}}
EVICTION: Mapping[str, str] = MappingProxyType({"group": "policy", "version": "v1", "kind": "Eviction"})


def discover(path: str, kinds: Kinds, eviction: Mapping[str, str] = EVICTION) -> dict[str, Any] | None:
    """Return the response to a discovery path; None for another path, and for a version that is not served."""
    if path == "/version":
        return {"gitVersion": "v1.35.0"}
    if path == "/apis":
        versions = sorted(api_version for api_version in kinds if "/" in api_version)
        groups = [
            _group(name, list(group_versions))
            for name, group_versions in groupby(versions, lambda version: version.partition("/")[0])
        ]
        return {"kind": "APIGroupList", "groups": groups}
    for version, resources in kinds.items():
        if path == ("/apis/" if "/" in version else "/api/") + version:
            return {"kind": "APIResourceList", "resources": _resources(resources, eviction)}
    return None


def _group(name: str, versions: list[str]) -> dict[str, Any]:
    entries = [{"groupVersion": version, "version": version.partition("/")[2]} for version in versions]
    return {"name": name, "versions": entries, "preferredVersion": entries[0]}


def _resources(resources: Mapping[str, tuple[str, bool]], eviction: Mapping[str, str]) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = []
    for name, (kind, namespaced) in resources.items():
        about = {"namespaced": namespaced, "singularName": "", "verbs": ["get"]}
        entries += [{**about, "name": name, "kind": kind}, {**about, "name": f"{name}/status", "kind": kind}]
        if name == "pods":
            entries.append({**about, "name": "pods/eviction", **eviction})
    return entries
