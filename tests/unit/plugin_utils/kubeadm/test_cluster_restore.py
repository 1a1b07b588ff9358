# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The way back of kubelet-config: byte for byte, or field by field when others wrote since, or not at all."""

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
    DRIVER,
    TEXT,
    WANTED,
    WRITTEN,
    config_map,
    host,
    node,
    seen,
)

AUTO, TRUE, FALSE = ConfigMapPermission(None), ConfigMapPermission(True), ConfigMapPermission(False)
# What kubeadm upgrade makes of WRITTEN: its own order, no comments.
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
    found = parse_journal(ConfigMap("volcano-colocation", render_journal(journal), "9", "kube-system"))
    assert found is not None
    return found


def first() -> KubeletConfigJournal:
    return stored(plan_cluster([host("a")], seen("a"), AUTO).journal)


def put_back(
    text: str, journal: KubeletConfigJournal, permission: ConfigMapPermission = AUTO, version: str = "2"
) -> ClusterRestorePlan:
    return plan_cluster_restore([host("a")], seen("a", found=config_map(text, version), journal=journal), permission)


def test_it_is_as_it_was_byte_for_byte() -> None:
    found = put_back(WRITTEN, first())
    assert (found.after, found.forget) == (TEXT, True)
    assert list(map(str, found.changes)) == ["cgroupDriver: systemd -> cgroupfs", "systemReserved.cpu: 500m -> unset"]


def test_two_runs_lead_back_to_what_was_before_the_first() -> None:
    more = host("a", fields={**WANTED, ("podPidsLimit",): 99, CPU: "1"})
    second = plan_cluster([more], seen("a", found=config_map(WRITTEN, "2"), journal=first()), AUTO)
    assert second.after is not None
    assert put_back(second.after, stored(second.journal), version="3").after == TEXT


def test_after_kubeadm_wrote_it_anew_each_field_goes_back_by_itself() -> None:
    assert put_back(REMARSHALLED, first(), version="7").after == (
        REMARSHALLED.replace("systemd", "cgroupfs").replace("systemReserved:\n  cpu: 500m\n", "")
    )


def test_the_config_map_of_another_version_goes_back_field_by_field() -> None:
    """Before 1.24 kubeadm upgrade makes a new one of another name, and ours is copied with it."""
    newer = replace(config_map(WRITTEN, "2"), name="kubelet-config-1.21")
    found = plan_cluster_restore([host("a")], seen("a", found=newer, journal=first()), AUTO)
    assert found.after is not None
    assert "# ask Ada before you change this\ncgroupDriver: cgroupfs\n" in found.after
    assert "systemReserved" not in found.after


def test_somebody_elses_change_of_our_field_is_a_conflict() -> None:
    with pytest.raises(ClusterError, match="cgroupDriver was cgroupfs, the collection set systemd, now it is foo"):
        put_back(WRITTEN.replace("systemd", "foo"), first())


def test_somebody_elses_other_change_stays() -> None:
    found = put_back(WRITTEN + "maxPods: 50\n", first())
    assert found.after is not None
    assert found.after.endswith("rotateCertificates: true\nmaxPods: 50\n")


def test_what_is_as_before_already_is_only_forgotten() -> None:
    found = put_back(TEXT, first())
    assert (found.after, found.changes, found.forget) == (None, (), True)


def test_without_a_journal_there_is_nothing_to_do() -> None:
    found = plan_cluster_restore([host("a")], seen("a"), AUTO)
    assert (found.after, found.forget, found.findings) == (None, False, ())


def test_a_config_map_that_is_gone_is_forgotten() -> None:
    found = plan_cluster_restore([host("a")], KubeadmState((node("a"),), None, first()), AUTO)
    assert (found.after, found.forget) == (None, True)


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
def test_nodes_that_are_not_put_back_keep_it(
    hosts: list[PlayHost], permission: ConfigMapPermission, reason: str
) -> None:
    found = plan_cluster_restore(hosts, seen("a", "b", found=config_map(WRITTEN, "2"), journal=first()), permission)
    assert (found.after, found.forget) == (None, False)
    assert reason in found.reasons
    assert [each.code for each in found.findings] == ["kubeadm-config-not-restored"]


def test_true_puts_it_back_all_the_same() -> None:
    hosts = [host("a")]
    assert (
        plan_cluster_restore(hosts, seen("a", "b", found=config_map(WRITTEN, "2"), journal=first()), TRUE).after == TEXT
    )


def test_another_cluster_is_refused() -> None:
    with pytest.raises(ClusterError, match="not that of the play's hosts"):
        plan_cluster_restore([host("x")], seen("a", found=config_map(WRITTEN, "2"), journal=first()), TRUE)


def test_a_write_that_never_happened_is_not_put_back() -> None:
    """The journal comes first; the run was cut off, or somebody else was faster."""
    announced = first()
    assert drop_unwritten(announced, config_map(TEXT, "1")) is None
    assert drop_unwritten(announced, config_map(TEXT + "maxPods: 5\n", "2")) is None
    assert drop_unwritten(announced, config_map(WRITTEN, "2")) == announced


def test_an_earlier_write_outlives_a_later_one_that_never_happened() -> None:
    now = config_map(WRITTEN, "2")
    later = stored(record_fields(first(), now, WRITTEN + "podPidsLimit: 99\n", {("podPidsLimit",): 99}))
    left = drop_unwritten(later, now)
    assert left is not None
    assert [(each.keys, each.before, each.after) for each in left.fields] == [
        (DRIVER, "cgroupfs", "systemd"),
        (CPU, None, "500m"),
    ]
    assert put_back(WRITTEN, later, version="2").after is not None


@pytest.mark.parametrize(
    "data",
    [{}, {"kubelet-config.json": "{"}, {"kubelet-config.json": "[]"}, {"kubelet-config.json": '{"schema": 2}'}],
)
def test_a_config_map_that_is_not_ours_is_refused(data: dict[str, str]) -> None:
    with pytest.raises(ClusterError, match="ConfigMap kube-system/volcano-colocation does not have the format"):
        parse_journal(ConfigMap("volcano-colocation", data, "1", "kube-system"))
