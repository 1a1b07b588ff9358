# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The restore of kubelet-config: byte for byte, or field by field after changes by other clients, or not at all."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.api_errors import ClusterError
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.objects import ConfigMap
from ansible_collections.volcano.colocation.plugins.plugin_utils.kubeadm.cluster_plan import (
    ClusterRestorePlan,
    plan_cluster,
    plan_cluster_restore,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.kubeadm.kubelet_config_journal import (
    KubeadmState,
    KubeletConfigJournal,
    drop_unwritten,
    parse_journal,
    record_fields,
    render_journal,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.kubeadm.play_hosts import ConfigMapPermission, PlayHost
from ansible_collections.volcano.colocation.tests.support.clusters.kubeadm_clusters import (
    CPU,
    DESIRED,
    DRIVER,
    TEXT,
    WRITTEN,
    config_map,
    host,
    kubeadm_state,
    node,
)

AUTO, TRUE, FALSE = ConfigMapPermission(None), ConfigMapPermission(True), ConfigMapPermission(False)
# WRITTEN as kubeadm upgrade rewrites it: in another order, without comments.
REMARSHALLED = """apiVersion: kubelet.config.k8s.io/v1beta1
authentication:
  x509:
    clientCAFile: /etc/kubernetes/pki/ca.crt
cgroupDriver: systemd
clusterDNS:
- 10.96.0.10
kind: KubeletConfiguration
rotateCertificates: true
shutdownGracePeriod: 0s
systemReserved:
  cpu: 500m
"""


def stored(journal: KubeletConfigJournal | None) -> KubeletConfigJournal:
    """The journal as the next run reads it."""
    assert journal is not None
    parsed = parse_journal(ConfigMap("volcano-colocation", render_journal(journal), "9", "kube-system"))
    assert parsed is not None
    return parsed


def first() -> KubeletConfigJournal:
    return stored(plan_cluster([host("a")], kubeadm_state("a"), AUTO).journal)


def plan_restored(
    text: str, journal: KubeletConfigJournal, permission: ConfigMapPermission = AUTO, version: str = "2"
) -> ClusterRestorePlan:
    return plan_cluster_restore(
        [host("a")], kubeadm_state("a", stored=config_map(text, version), journal=journal), permission
    )


def test_the_text_is_restored_byte_for_byte() -> None:
    plan = plan_restored(WRITTEN, first())
    assert (plan.after, plan.forget) == (TEXT, True)
    assert list(map(str, plan.changes)) == ["cgroupDriver: systemd -> cgroupfs", "systemReserved.cpu: 500m -> unset"]


def test_after_two_runs_the_text_before_the_first_is_restored() -> None:
    more = host("a", fields={**DESIRED, ("podPidsLimit",): 99, CPU: "1"})
    second = plan_cluster([more], kubeadm_state("a", stored=config_map(WRITTEN, "2"), journal=first()), AUTO)
    assert second.after is not None
    assert plan_restored(second.after, stored(second.journal), version="3").after == TEXT


def test_after_kubeadm_replaced_the_text_each_field_is_restored() -> None:
    assert plan_restored(REMARSHALLED, first(), version="7").after == (
        REMARSHALLED.replace("systemd", "cgroupfs").replace("systemReserved:\n  cpu: 500m\n", "")
    )


def test_the_config_map_of_another_version_is_restored_field_by_field() -> None:
    """Before 1.24 kubeadm upgrade creates a ConfigMap with another name, with a copy of the managed values."""
    newer = replace(config_map(WRITTEN, "2"), name="kubelet-config-1.21")
    plan = plan_cluster_restore([host("a")], kubeadm_state("a", stored=newer, journal=first()), AUTO)
    assert plan.after is not None
    assert "# ask Ada before you change this\ncgroupDriver: cgroupfs\n" in plan.after
    assert "systemReserved" not in plan.after


def test_a_change_of_a_managed_field_by_another_client_is_a_conflict() -> None:
    with pytest.raises(ClusterError, match="cgroupDriver was cgroupfs, the collection set systemd, now it is foo"):
        plan_restored(WRITTEN.replace("systemd", "foo"), first())


def test_other_changes_by_another_client_stay() -> None:
    plan = plan_restored(WRITTEN + "maxPods: 50\n", first())
    assert plan.after is not None
    assert plan.after.endswith("rotateCertificates: true\nmaxPods: 50\n")


def test_a_restored_text_needs_only_the_deletion_of_the_journal() -> None:
    plan = plan_restored(TEXT, first())
    assert (plan.after, plan.changes, plan.forget) == (None, (), True)


def test_nothing_is_restored_without_a_journal() -> None:
    plan = plan_cluster_restore([host("a")], kubeadm_state("a"), AUTO)
    assert (plan.after, plan.forget, plan.findings) == (None, False, ())


def test_the_journal_of_a_deleted_config_map_is_deleted() -> None:
    plan = plan_cluster_restore([host("a")], KubeadmState((node("a"),), None, first()), AUTO)
    assert (plan.after, plan.forget) == (None, True)


@pytest.mark.parametrize(
    ("hosts", "permission", "reason"),
    [
        ([host("a")], AUTO, "b: not a host of this run"),
        (
            [host("a"), PlayHost("b", lacks="it was not restored in this run")],
            AUTO,
            "b: it was not restored in this run",
        ),
        ([host("a"), host("b")], FALSE, "colocation_kubeadm_edit_configmap is false"),
    ],
)
def test_a_node_that_is_not_restored_prevents_the_restore(
    hosts: list[PlayHost], permission: ConfigMapPermission, reason: str
) -> None:
    plan = plan_cluster_restore(
        hosts, kubeadm_state("a", "b", stored=config_map(WRITTEN, "2"), journal=first()), permission
    )
    assert (plan.after, plan.forget) == (None, False)
    assert reason in plan.reasons
    assert [finding.code for finding in plan.findings] == ["kubeadm-config-not-restored"]


def test_true_restores_it_whatever_other_nodes_have() -> None:
    hosts = [host("a")]
    assert (
        plan_cluster_restore(
            hosts, kubeadm_state("a", "b", stored=config_map(WRITTEN, "2"), journal=first()), TRUE
        ).after
        == TEXT
    )


def test_another_cluster_is_refused() -> None:
    with pytest.raises(ClusterError, match="not that of the play's hosts"):
        plan_cluster_restore([host("x")], kubeadm_state("a", stored=config_map(WRITTEN, "2"), journal=first()), TRUE)


def test_a_change_that_was_never_written_is_not_restored() -> None:
    """The journal is written first; then the run was interrupted, or another client changed the ConfigMap."""
    recorded = first()
    assert drop_unwritten(recorded, config_map(TEXT, "1")) is None
    assert drop_unwritten(recorded, config_map(TEXT + "maxPods: 5\n", "2")) is None
    assert drop_unwritten(recorded, config_map(WRITTEN, "2")) == recorded


def test_a_recorded_change_that_was_never_written_does_not_hide_an_earlier_one() -> None:
    now = config_map(WRITTEN, "2")
    later = stored(record_fields(first(), now, WRITTEN + "podPidsLimit: 99\n", {("podPidsLimit",): 99}))
    remaining = drop_unwritten(later, now)
    assert remaining is not None
    assert [(field.keys, field.before, field.after) for field in remaining.fields] == [
        (DRIVER, "cgroupfs", "systemd"),
        (CPU, None, "500m"),
    ]
    assert plan_restored(WRITTEN, later, version="2").after is not None


@pytest.mark.parametrize(
    "data",
    [{}, {"kubelet-config.json": "{"}, {"kubelet-config.json": "[]"}, {"kubelet-config.json": '{"schema": 2}'}],
)
def test_a_foreign_config_map_is_refused(data: dict[str, str]) -> None:
    with pytest.raises(ClusterError, match="ConfigMap kube-system/volcano-colocation does not have the format"):
        parse_journal(ConfigMap("volcano-colocation", data, "1", "kube-system"))
