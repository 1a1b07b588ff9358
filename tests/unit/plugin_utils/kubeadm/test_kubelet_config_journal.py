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
    found = Server(**different)  # type: ignore[arg-type]
    found.add(NODE, CONFIG)
    return found


def test_the_nodes_and_the_config_map_are_read() -> None:
    seen = KubeadmCluster(server().client()).read_state()
    assert [node.boot_id for node in seen.nodes] == ["b"]
    assert seen.config_map
    assert (seen.config_map.place, seen.config_map.data) == ("ConfigMap kube-system/kubelet-config", CONFIG["data"])
    assert seen.journal is None


JOURNALED = KubeletConfigJournal("kubelet-config", "a: 1\n", "b: 2\n", "1", ())


def plan(seen: KubeadmState, after: str = "b: 2\n") -> ClusterPlan:
    return ClusterPlan(seen.config_map, after, journal=JOURNALED)


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
def test_all_permissions_that_are_missing_are_named(denied: tuple[str, ...], missing: str) -> None:
    found = server(denied=denied)
    cluster = KubeadmCluster(found.client())
    changes = plan_changes(plan(cluster.read_state()), None)
    with pytest.raises(ClusterError, match=rf"may not {missing}\. Nothing was changed\. Grant it"):
        apply_permitted(cluster.client, changes)
    assert found.writes == []
    assert plan_changes(ClusterPlan(), None) == restore_changes(ClusterRestorePlan()) == ()


def test_the_journal_is_written_before_the_text_and_deleted_after_it() -> None:
    found = server()
    cluster = KubeadmCluster(found.client())
    apply_permitted(cluster.client, plan_changes(plan(cluster.read_state()), None))
    seen = cluster.read_state()
    assert seen.journal == JOURNALED
    apply_permitted(cluster.client, plan_changes(plan(seen, "c: 3\n"), seen.journal_version))
    with pytest.raises(ClusterError, match="another client changed it"):
        apply_permitted(cluster.client, plan_changes(plan(cluster.read_state()), seen.journal_version))
    apply_permitted(
        cluster.client, restore_changes(ClusterRestorePlan(cluster.read_state().config_map, "a: 1\n", forget=True))
    )
    record, text = JOURNAL_REF.place, "ConfigMap kube-system/kubelet-config"
    assert found.writes == [
        *(f"create {record}", f"patch {text}"),
        *(f"patch {record}", f"patch {text}"),
        *(f"patch {text}", f"delete {record}"),
    ]
    assert (found.get("ConfigMap", "kubelet-config", "kube-system") or {})["data"] == CONFIG["data"]


def test_a_text_that_another_client_changed_is_not_replaced() -> None:
    found = server()
    cluster = KubeadmCluster(found.client())
    read = cluster.read_state()
    found.add({**CONFIG, "data": {"kubelet": "b: 2\n"}})
    with pytest.raises(ClusterError, match="another client changed it after it was read"):
        apply_permitted(cluster.client, restore_changes(ClusterRestorePlan(read.config_map, "c: 3\n")))
    assert found.writes == []
