# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How an API server is asked for a drain's sake, and what is said when it does not answer as hoped."""

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


def asked(server: ApiServer, folder: Path, method: str, *arguments: Any) -> Any:
    with serving(server, folder) as path:
        return getattr(reached(path), method)(*arguments)


@pytest.mark.parametrize("policy", [("v1", "v1beta1"), ("v1beta1",), ("v1",)])
def test_the_newest_policy_that_is_served_is_used(tmp_path: Path, policy: tuple[str, ...]) -> None:
    server = ApiServer([pod("a")], [budget(allowed=0)], policy=policy)
    (found,) = asked(server, tmp_path, "pods", "n1")
    assert found.blocking_pdb == "web"


@pytest.mark.parametrize(
    ("method", "part", "verb"),
    [
        ("pods", "GET /api/v1/pods", "list pods"),
        ("pods", "poddisruptionbudgets", "list poddisruptionbudgets.policy"),
        ("node", "GET /api/v1/nodes/n1", "get nodes n1"),
    ],
)
def test_a_verb_that_is_missing_is_named(tmp_path: Path, method: str, part: str, verb: str) -> None:
    with pytest.raises(ClusterError, match=f"may not {verb}: no, 403"):
        asked(ApiServer(refuses={part: 403}), tmp_path, method, "n1")


def test_all_verbs_that_write_are_asked_for_beforehand(tmp_path: Path) -> None:
    class Denying(ApiServer):
        def answer(self, method: str, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
            if path.endswith("selfsubjectaccessreviews"):
                said = body["spec"]["resourceAttributes"]
                return 201, {"status": {"allowed": said["resource"] == "nodes"}}
            return super().answer(method, path, body)

    with pytest.raises(ClusterError, match="may not create pods/eviction"):
        asked(Denying(), tmp_path, "require_permissions")
    asked(ApiServer(), tmp_path, "require_permissions")


def test_a_server_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path, "http://127.0.0.1:9")
    with pytest.raises(ClusterError, match="does not answer"):
        reached(path).node("n1")


def test_an_answer_that_is_no_json_is_told_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match="502, no, 502"):
        asked(ApiServer(refuses={"/nodes": 502}), tmp_path, "node", "n1")


def test_a_node_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match="has no Node n2 any more"):
        asked(ApiServer(), tmp_path, "node", "n2")
