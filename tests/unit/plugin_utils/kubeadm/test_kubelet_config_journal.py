# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kubelet-config of a cluster and its journal, on an API server in memory."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.api_errors import ClusterError
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.object_changes import apply_permitted
from ansible_collections.volcano.colocation.plugins.plugin_utils.kubeadm.cluster_plan import (
    JOURNAL_REF,
    ClusterPlan,
    ClusterRestorePlan,
    KubeadmCluster,
    plan_changes,
    restore_changes,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.kubeadm.kubelet_config_journal import (
    KubeadmState,
    KubeletConfigJournal,
)
from ansible_collections.volcano.colocation.tests.support.clusters.memory_api_server import Server

NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "status": {"nodeInfo": {"bootID": "b"}}}
CONFIG = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "kubelet-config", "namespace": "kube-system"},
    "data": {"kubelet": "a: 1\n"},
}


def server(**different: object) -> Server:
    api_server = Server(**different)  # type: ignore[arg-type]
    api_server.add(NODE, CONFIG)
    return api_server


def test_the_nodes_and_the_config_map_are_read() -> None:
    state = KubeadmCluster(server().client()).read_state()
    assert [node.boot_id for node in state.nodes] == ["b"]
    assert state.config_map
    assert (state.config_map.place, state.config_map.data) == ("ConfigMap kube-system/kubelet-config", CONFIG["data"])
    assert state.journal is None


JOURNALED = KubeletConfigJournal("kubelet-config", "a: 1\n", "b: 2\n", "1", ())


def plan(state: KubeadmState, after: str = "b: 2\n") -> ClusterPlan:
    return ClusterPlan(state.config_map, after, journal=JOURNALED)


@pytest.mark.parametrize(
    ("denied", "missing"),
    [
        (("patch configmaps",), "patch configmaps kubelet-config in kube-system"),
        (("create configmaps",), "create configmaps in kube-system"),
        (
            ("patch configmaps", "create configmaps"),
            "create configmaps in kube-system; patch configmaps kubelet-config in kube-system",
        ),
    ],
)
def test_all_missing_permissions_are_named(denied: tuple[str, ...], missing: str) -> None:
    api_server = server(denied=denied)
    cluster = KubeadmCluster(api_server.client())
    changes = plan_changes(plan(cluster.read_state()), None)
    with pytest.raises(ClusterError, match=rf"may not {missing}\. Nothing was changed\. Grant it"):
        apply_permitted(cluster.client, changes)
    assert api_server.writes == []
    assert plan_changes(ClusterPlan(), None) == restore_changes(ClusterRestorePlan()) == ()


def test_the_journal_is_written_before_the_text_and_deleted_after_it() -> None:
    api_server = server()
    cluster = KubeadmCluster(api_server.client())
    apply_permitted(cluster.client, plan_changes(plan(cluster.read_state()), None))
    state = cluster.read_state()
    assert state.journal == JOURNALED
    apply_permitted(cluster.client, plan_changes(plan(state, "c: 3\n"), state.journal_version))
    with pytest.raises(ClusterError, match="another client changed it"):
        apply_permitted(cluster.client, plan_changes(plan(cluster.read_state()), state.journal_version))
    apply_permitted(
        cluster.client, restore_changes(ClusterRestorePlan(cluster.read_state().config_map, "a: 1\n", forget=True))
    )
    record, text = JOURNAL_REF.place, "ConfigMap kube-system/kubelet-config"
    assert api_server.writes == [
        *(f"create {record}", f"patch {text}"),
        *(f"patch {record}", f"patch {text}"),
        *(f"patch {text}", f"delete {record}"),
    ]
    assert (api_server.get("ConfigMap", "kubelet-config", "kube-system") or {})["data"] == CONFIG["data"]


def test_a_text_that_another_client_changed_is_not_replaced() -> None:
    api_server = server()
    cluster = KubeadmCluster(api_server.client())
    state = cluster.read_state()
    api_server.add({**CONFIG, "data": {"kubelet": "b: 2\n"}})
    with pytest.raises(ClusterError, match="another client changed it after it was read"):
        apply_permitted(cluster.client, restore_changes(ClusterRestorePlan(state.config_map, "c: 3\n")))
    assert api_server.writes == []
