# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests of a drain to an API server, and the errors when it does not answer as expected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.api_errors import ClusterError
from ansible_collections.volcano.colocation.tests.support.clusters.drain_api_server import (
    ApiServer,
    budget,
    kubeconfig,
    pod,
    reached,
    serving,
)


def call(server: ApiServer, directory: Path, method: str, *arguments: Any) -> Any:
    with serving(server, directory) as path:
        return getattr(reached(path), method)(*arguments)


@pytest.mark.parametrize("policy", [("v1", "v1beta1"), ("v1beta1",), ("v1",)])
def test_the_newest_policy_that_is_served_is_used(tmp_path: Path, policy: tuple[str, ...]) -> None:
    server = ApiServer([pod("a")], [budget(allowed=0)], policy=policy)
    (evictable,) = call(server, tmp_path, "pods", "n1")
    assert evictable.blocking_pdb == "web"


@pytest.mark.parametrize(
    ("method", "part", "verb"),
    [
        ("pods", "GET /api/v1/pods", "list pods"),
        ("pods", "poddisruptionbudgets", "list poddisruptionbudgets.policy"),
        ("node", "GET /api/v1/nodes/n1", "get nodes n1"),
    ],
)
def test_a_missing_verb_is_named(tmp_path: Path, method: str, part: str, verb: str) -> None:
    with pytest.raises(ClusterError, match=f"may not {verb}: no, 403"):
        call(ApiServer(refuses={part: 403}), tmp_path, method, "n1")


def test_all_verbs_that_write_are_reviewed_in_advance(tmp_path: Path) -> None:
    class Denying(ApiServer):
        def respond(self, method: str, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
            if path.endswith("selfsubjectaccessreviews"):
                attributes = body["spec"]["resourceAttributes"]
                return 201, {"status": {"allowed": attributes["resource"] == "nodes"}}
            return super().respond(method, path, body)

    with pytest.raises(ClusterError, match="may not create pods/eviction"):
        call(Denying(), tmp_path, "require_permissions")
    call(ApiServer(), tmp_path, "require_permissions")


def test_an_unreachable_server_is_named(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path, "http://127.0.0.1:9")
    with pytest.raises(ClusterError, match="does not answer"):
        reached(path).node("n1")


def test_a_response_that_is_not_json_is_reported_unchanged(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match="502, no, 502"):
        call(ApiServer(refuses={"/nodes": 502}), tmp_path, "node", "n1")


def test_a_deleted_node_is_named(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match="has no Node n2 any more"):
        call(ApiServer(), tmp_path, "node", "n2")
