# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How an API server is asked for a drain's sake, and what is said when it does not answer as hoped."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.controller.node_api import NodeApi
from ansible_collections.volcano.colocation.plugins.plugin_utils.controller.node_identity import node_name
from ansible_collections.volcano.colocation.plugins.plugin_utils.kubeadm.model import ClusterError
from ansible_collections.volcano.colocation.plugins.plugin_utils.rollout.pods import Rules
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rollout.cluster import (
    ApiServer,
    budget,
    kubeconfig,
    observed,
    pod,
    serving,
)


def asked(server: ApiServer, folder: Path, method: str, *arguments: Any) -> Any:
    with serving(server, folder) as path:
        return getattr(NodeApi(str(path), Rules()), method)(*arguments)


@pytest.mark.parametrize("policy", [("v1", "v1beta1"), ("v1beta1",), ("v1",)])
def test_the_newest_policy_that_is_served_is_used(tmp_path: Path, policy: tuple[str, ...]) -> None:
    server = ApiServer([pod("a")], [budget(allowed=0)], policy=policy)
    (found,) = asked(server, tmp_path, "pods", "n1")
    assert found.waits_for == "web"


@pytest.mark.parametrize(
    ("method", "part", "verb"),
    [
        ("pods", "GET /api/v1/pods", "list pods"),
        ("pods", "poddisruptionbudgets", "list poddisruptionbudgets"),
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
        asked(Denying(), tmp_path, "demand")
    asked(ApiServer(), tmp_path, "demand")


def test_a_server_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path, "http://127.0.0.1:9")
    with pytest.raises(ClusterError, match="could not be asked"):
        NodeApi(str(path), Rules()).node("n1")


def test_an_answer_that_is_no_json_is_told_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match="502, no, 502"):
        asked(ApiServer(refuses={"/nodes": 502}), tmp_path, "node", "n1")


def test_a_file_that_is_no_kubeconfig(tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text("apiVersion: v1\n", encoding="utf-8")
    with pytest.raises(ClusterError, match="is no kubeconfig"):
        NodeApi(str(path), Rules()).demand()


def test_without_the_client_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kubernetes", None)
    with pytest.raises(ClusterError, match="The Python library kubernetes is needed"):
        NodeApi("x", Rules()).demand()


def test_a_host_is_found_among_the_nodes(tmp_path: Path) -> None:
    server = ApiServer()
    with serving(server, tmp_path) as path:
        api = NodeApi(str(path), Rules())
        assert node_name("n1", observed(), api) == "n1"
        assert node_name("host", observed(names=["other"]), api) == "n1", "by its boot id, whatever it is called"


def test_a_host_of_another_cluster_is_refused(tmp_path: Path) -> None:
    with serving(ApiServer(), tmp_path) as path:
        with pytest.raises(ClusterError, match="This cluster is not that of the play's hosts"):
            node_name("n1", observed(boot_id="other"), NodeApi(str(path), Rules()))
        with pytest.raises(ClusterError, match="not looked at in this run"):
            node_name("n1", None, NodeApi(str(path), Rules()))
