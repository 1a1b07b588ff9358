# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kubelet-config of a cluster and its journal, on an API server in memory."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.errors import ClusterError
from ansible_collections.volcano.colocation.plugins.plugin_utils.kubeadm.kubeadm_cluster import JOURNAL, KubeadmCluster
from ansible_collections.volcano.colocation.tests.unit.action.api_server import Server

NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "status": {"nodeInfo": {"bootID": "b"}}}
CONFIG = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "kubelet-config", "namespace": "kube-system"},
    "data": {"kubelet": "a: 1\n"},
}


def server(**different: object) -> Server:
    found = Server(**different)  # type: ignore[arg-type]
    found.add(NODE, CONFIG)
    return found


def test_the_nodes_and_the_config_map_are_read() -> None:
    seen = KubeadmCluster(server().client()).seen()
    assert [node.boot_id for node in seen.nodes] == ["b"]
    assert seen.config_map
    assert (seen.config_map.place, seen.config_map.data) == ("ConfigMap kube-system/kubelet-config", CONFIG["data"])
    assert seen.journal is None


@pytest.mark.parametrize(
    ("denied", "missing"),
    [
        (("patch configmaps",), "patch configmaps kubelet-config in kube-system"),
        (("create configmaps",), "create configmaps in kube-system"),
        (
            ("patch configmaps", "create configmaps"),
            "patch configmaps kubelet-config in kube-system; create configmaps in kube-system",
        ),
    ],
)
def test_all_permissions_that_are_missing_are_named(denied: tuple[str, ...], missing: str) -> None:
    found = server(denied=denied)
    cluster = KubeadmCluster(found.client())
    with pytest.raises(ClusterError, match=rf"may not {missing}\. Nothing was changed\. Grant it"):
        cluster.require_permissions(cluster.seen().config_map, "create")
    cluster.require_permissions(None, "delete")


def test_the_journal_is_created_once_then_changed_then_deleted() -> None:
    found = server()
    cluster = KubeadmCluster(found.client())
    cluster.keep({"a": "1"}, None)
    stored = found.get("ConfigMap", JOURNAL.name, JOURNAL.namespace)
    assert stored
    cluster.keep({"a": "2"}, stored["metadata"]["resourceVersion"])
    with pytest.raises(ClusterError, match="another client changed it"):
        cluster.keep({"a": "3"}, "1")
    journal = cluster.client.find(JOURNAL)
    assert journal
    assert journal["data"] == {"a": "2"}
    cluster.forget()
    assert found.writes == [f"{verb} {JOURNAL.place}" for verb in ("create", "patch", "delete")]


def test_a_text_that_another_client_changed_is_not_replaced() -> None:
    found = server()
    cluster = KubeadmCluster(found.client())
    read = cluster.seen().config_map
    assert read
    found.add({**CONFIG, "data": {"kubelet": "b: 2\n"}})
    with pytest.raises(ClusterError, match="another client changed it after it was read"):
        cluster.replace(read, "kubelet", "c: 3\n")
    assert found.writes == []
