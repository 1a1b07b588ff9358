# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""When the cluster's kubelet-config is written, with which values, and what prevents it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.text_errors import UneditableFile
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.api_errors import ClusterError
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.objects import ConfigMap
from ansible_collections.volcano.colocation.plugins.plugin_utils.kubeadm.cluster_plan import ClusterPlan, plan_cluster
from ansible_collections.volcano.colocation.plugins.plugin_utils.kubeadm.kubelet_config_journal import KubeadmState
from ansible_collections.volcano.colocation.plugins.plugin_utils.kubeadm.play_hosts import ConfigMapPermission, PlayHost
from ansible_collections.volcano.colocation.tests.support.clusters.kubeadm_clusters import (
    CPU,
    DESIRED,
    DRIVER,
    WRITTEN,
    config_map,
    host,
    kubeadm_state,
    node,
    sha256,
)

AUTO, TRUE, FALSE = ConfigMapPermission(None), ConfigMapPermission(True), ConfigMapPermission(False)
OTHER_CLUSTER = "This cluster is not that of the play's hosts"


def codes(plan: ClusterPlan) -> list[str]:
    return [finding.code for finding in plan.findings]


def test_common_fields_are_set_and_every_other_line_stays() -> None:
    plan = plan_cluster([host("a"), host("b")], kubeadm_state("a", "b"), AUTO)
    assert plan.after == WRITTEN
    assert list(map(str, plan.changes)) == ["cgroupDriver: cgroupfs -> systemd", "systemReserved.cpu: unset -> 500m"]
    assert (plan.reasons, plan.findings) == ((), ())


def test_a_second_run_changes_nothing() -> None:
    plan = plan_cluster([host("a")], kubeadm_state("a", stored=config_map(WRITTEN)), AUTO)
    assert (plan.after, plan.changes, plan.reasons, plan.findings) == (None, (), (), ())


@pytest.mark.parametrize("permission", [AUTO, FALSE])
@pytest.mark.parametrize(
    ("hosts", "reason"),
    [
        ([host("a")], "b: not a host of this run"),
        ([host("a"), host("b", lacks="2 setting(s) of it are pending")], "b: 2 setting(s) of it are pending"),
        ([host("a"), host("b", kubeadm=False, lacks="it is unknown")], "b: it is unknown"),
        ([host("a"), host("b"), PlayHost("c", lacks="it was not observed")], "c: it was not observed"),
    ],
)
def test_a_node_that_is_not_aligned_prevents_the_change_and_is_named(
    hosts: list[PlayHost], reason: str, permission: ConfigMapPermission
) -> None:
    plan = plan_cluster(hosts, kubeadm_state("a", "b"), permission)
    assert (plan.after, codes(plan)) == (None, ["kubeadm-config-differs"])
    if permission is AUTO:
        assert reason in plan.reasons
        assert f"not written: {reason}" in plan.findings[0].evidence
    else:
        assert plan.reasons == ("colocation_kubeadm_edit_configmap is false",)
    assert "cgroupDriver: cgroupfs -> systemd" in plan.findings[0].evidence


def test_true_writes_it_whatever_other_nodes_have() -> None:
    plan = plan_cluster([host("a", lacks="1 setting(s) of it are pending")], kubeadm_state("a", "b"), TRUE)
    assert plan.after == WRITTEN


def test_fields_that_depend_on_the_node_are_skipped_and_named() -> None:
    other = host("b", fields={**DESIRED, CPU: "1", ("reservedSystemCPUs",): "0"})
    plan = plan_cluster([host("a"), other], kubeadm_state("a", "b"), AUTO)
    assert [change.keys for change in plan.changes] == [DRIVER]
    assert [(finding.code, finding.evidence) for finding in plan.findings] == [
        ("kubeadm-config-conflicting", ("systemReserved.cpu", "reservedSystemCPUs"))
    ]


def test_numbers_and_booleans_are_distinguished_and_equal_lists_are_not() -> None:
    memory = [{"numaNode": 0, "limits": {"memory": "1Gi"}}]
    first = host("a", fields={("reservedMemory",): memory, ("podPidsLimit",): 1})
    second = host("b", fields={("reservedMemory",): list(memory), ("podPidsLimit",): True})
    plan = plan_cluster([first, second], kubeadm_state("a", "b"), AUTO)
    assert [change.keys for change in plan.changes] == [("reservedMemory",)]


def test_a_host_with_a_drop_in_needs_no_config_map_but_its_values_count() -> None:
    alone = plan_cluster([host("a", main_file=False)], kubeadm_state("a"), AUTO)
    assert (alone.after, alone.reasons) == (None, ("no host of this run gets its settings from kubelet-config",))
    other = host("b", main_file=False, fields={DRIVER: "cgroupfs", CPU: "500m"})
    both = plan_cluster([host("a"), other], kubeadm_state("a", "b"), AUTO)
    assert [change.keys for change in both.changes] == [CPU]


def test_a_profile_without_kubelet_fields_needs_no_change() -> None:
    assert plan_cluster([host("a", fields={})], kubeadm_state("a"), TRUE).after is None


def test_a_default_of_kubelets_is_written_too() -> None:
    """kubeadm defaults cgroupDriver to systemd from 1.22 on, kubelet to cgroupfs."""
    current = config_map("kind: KubeletConfiguration\n")
    plan = plan_cluster([host("a", fields={DRIVER: "cgroupfs"})], kubeadm_state("a", stored=current), AUTO)
    assert plan.after == "kind: KubeletConfiguration\ncgroupDriver: cgroupfs\n"


@pytest.mark.parametrize(
    ("different", "reason"),
    [
        ({"boot_id": "other", "machine_id_sha256": sha256("other")}, "the Node a has another machine id"),
        ({"boot_id": None, "machine_id_sha256": None}, "the Node a has no machine id to compare"),
        ({"boot_id": "other", "node_names": ("x", "y")}, "no Node is called x or y, and none has its boot id"),
    ],
)
@pytest.mark.parametrize("permission", [AUTO, TRUE, FALSE])
def test_another_cluster_is_refused(different: dict[str, Any], reason: str, permission: ConfigMapPermission) -> None:
    with pytest.raises(ClusterError, match=OTHER_CLUSTER) as refused:
        plan_cluster([host("a", **different)], kubeadm_state("a"), permission)
    assert reason in str(refused.value)


def test_a_node_is_identified_by_its_boot_id_whatever_its_name() -> None:
    renamed = host("a", node_names=("inventory-name",))
    assert plan_cluster([renamed], kubeadm_state("a"), AUTO).after == WRITTEN


def test_a_rebooted_node_is_identified_by_name_and_machine_id() -> None:
    assert plan_cluster([host("a", boot_id="newer")], kubeadm_state("a"), AUTO).after == WRITTEN


def test_clones_with_the_same_machine_id_are_distinguished_by_name() -> None:
    nodes = tuple(node(name, machine_id="clone", boot_id="") for name in ("a", "b"))
    hosts = [host(name, machine_id_sha256=sha256("clone"), boot_id=None) for name in ("a", "b")]
    assert plan_cluster(hosts, KubeadmState(nodes, config_map(), None), AUTO).after == WRITTEN


def test_two_hosts_cannot_be_one_node() -> None:
    with pytest.raises(ClusterError, match="b: is the Node a, and so is a"):
        plan_cluster([host("a"), host("b", boot_id="boot-a")], kubeadm_state("a"), AUTO)


def test_a_cluster_without_kubelet_config_is_reported_or_refused() -> None:
    cluster = KubeadmState((node("a"),), None, None)
    assert codes(plan_cluster([host("a")], cluster, AUTO)) == ["kubeadm-config-missing"]
    with pytest.raises(ClusterError, match="has no kubelet-config"):
        plan_cluster([host("a")], cluster, TRUE)


def test_a_text_that_does_not_parse_is_named_with_its_line() -> None:
    with pytest.raises(UneditableFile, match="kube-system/kubelet-config, key kubelet:2: key 'a' is set twice"):
        plan_cluster([host("a")], kubeadm_state("a", stored=config_map("a: 1\na: 2\n")), AUTO)


def test_a_config_map_without_the_key_is_refused() -> None:
    with pytest.raises(ClusterError, match=r"kubelet-config-1\.23 has no key kubelet"):
        plan_cluster(
            [host("a")], kubeadm_state("a", stored=ConfigMap("kubelet-config-1.23", {}, "1", "kube-system")), AUTO
        )


def test_the_order_of_the_text_is_kept() -> None:
    shuffled = replace(config_map(), data={"kubelet": "kind: KubeletConfiguration\n\nmaxPods: 7\napiVersion: v1\n"})
    plan = plan_cluster([host("a", fields={DRIVER: "systemd"})], kubeadm_state("a", stored=shuffled), AUTO)
    assert plan.after == "kind: KubeletConfiguration\n\nmaxPods: 7\napiVersion: v1\ncgroupDriver: systemd\n"
