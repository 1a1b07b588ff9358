# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Instructions for the owner of a node, and the warnings about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.volcano.colocation.plugins.plugin_utils.assessment.node_plan import make_plan
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.draft import PlanDraft
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.owner_instructions import (
    kubelet_arguments,
    owner_instructions,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.node_profile import desired_fields
from ansible_collections.volcano.colocation.plugins.plugin_utils.report.plan_result import render_instructions
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.rule_types import Effect, Finding, Severity
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.verdict import PROVISION, profile_findings
from ansible_collections.volcano.colocation.tests.support.hosts.host_layouts import Node, profile

DESIRED: dict[str, Any] = {
    "cgroup_driver": "systemd",
    "cpu_manager_policy": "static",
    "system_reserved": {"cpu": "500m", "ephemeral-storage": "1Gi"},
    "reserved_system_cpus": None,
    "topology_manager_policy": "restricted",
    "read_only_port": 0,
}
TEXT = """apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupDriver: systemd
cpuManagerPolicy: static
topologyManagerPolicy: restricted
readOnlyPort: 0
systemReserved:
  cpu: 500m
  ephemeral-storage: 1Gi
"""


def instructions_for(node: Node, options: dict[str, Any]) -> dict[str, Any]:
    return render_instructions(owner_instructions(PlanDraft(node.facts, profile(options))))


def warned(node: Node, options: dict[str, Any]) -> list[Finding]:
    plan = make_plan(node.facts, profile(options), allow_disruption=True)
    return [finding for finding in profile_findings(plan, PROVISION) if finding.code == "owner-will-overwrite"]


@pytest.mark.parametrize(
    ("version", "names"),
    [
        ("1.31.2", {"ConfigMap kube-system/kubelet-config, key kubelet", "kubeletconfiguration+merge.yaml"}),
        ("1.24.9", {"ConfigMap kube-system/kubelet-config, key kubelet"}),
        ("1.23.9", {"ConfigMap kube-system/kubelet-config-1.23, key kubelet"}),
    ],
)
def test_kubeadm_gets_the_texts_for_its_version(version: str, names: set[str], tmp_path: Path) -> None:
    node = Node(tmp_path, "kubeadm", live={"kubelet": {"version": f"Kubernetes v{version}"}})
    files = instructions_for(node, DESIRED)["kubeadm"]["files"]
    assert set(files) == names
    assert set(files.values()) == {TEXT}
    assert yaml.safe_load(TEXT)["systemReserved"] == {"cpu": "500m", "ephemeral-storage": "1Gi"}


@pytest.mark.parametrize("layout", ["kubespray", "kubeadm"])
def test_an_empty_profile_has_no_instructions(layout: str, tmp_path: Path) -> None:
    assert instructions_for(Node(tmp_path, layout), {}) == {}


def test_a_profile_of_the_runtime_has_instructions_for_kubespray_only(tmp_path: Path) -> None:
    options = {"nri": {"enabled": True}}
    assert list(instructions_for(Node(tmp_path / "1", "kubespray"), options)) == ["kubespray"]
    assert instructions_for(Node(tmp_path / "2", "kubeadm"), options) == {}


def test_a_node_without_owner_has_no_instructions(tmp_path: Path) -> None:
    assert instructions_for(Node(tmp_path, "kubelet-1.28-dropin-by-variable"), DESIRED) == {}


def beside_openfuyao(tmp_path: Path) -> Node:
    unit = {"Id": "volcano-config-service.service", "LoadState": "loaded", "ActiveState": "active"}
    return Node(tmp_path, "kubeadm", live={"services": {"units": {unit["Id"]: unit}}})


def test_openfuyaos_service_is_reported_with_the_values_it_would_overwrite(tmp_path: Path) -> None:
    node = beside_openfuyao(tmp_path)
    options = {
        "cpu_manager_policy": "none",
        "topology_manager_policy": "restricted",
        "system_reserved": {"cpu": "1"},
        "kube_reserved": {"cpu": "500m"},
    }
    note = instructions_for(node, options)["volcano-config-service"]["note"]
    assert "It would overwrite cpuManagerPolicy: none of the profile: set static in the profile." in note
    assert "It would overwrite systemReserved.cpu: 1 of the profile: set 0.5 in the profile." in note
    assert "Choose restricted there as the topology manager's policy." in note
    assert "kubeReserved.cpu:" not in note


def test_openfuyaos_service_gets_no_variables(tmp_path: Path) -> None:
    node = beside_openfuyao(tmp_path)
    result = instructions_for(node, DESIRED)
    assert list(result) == ["kubeadm", "volcano-config-service"]
    assert (result["volcano-config-service"]["variables"], result["volcano-config-service"]["files"]) == ({}, {})
    assert [finding.summary.split()[0] for finding in warned(node, {"read_only_port": 1})] == [
        "kubeadm",
        "volcano-config-service",
    ]


def test_a_change_of_the_owners_file_causes_a_warning_with_the_variables(tmp_path: Path) -> None:
    (finding,) = warned(Node(tmp_path, "kubespray"), {"topology_manager_policy": "restricted"})
    assert (finding.severity, finding.effect) == (Severity.WARNING, Effect.NONE)
    assert finding.evidence == ("/etc/kubernetes/kubelet-config.yaml",)
    assert 'kubelet_topology_manager_policy: "restricted"' in finding.remedy


def test_the_own_drop_in_has_no_owner_but_kubeadms_flags_have(tmp_path: Path) -> None:
    assert warned(Node(tmp_path / "1", "kubeadm-1.30-config-dir"), {"topology_manager_policy": "restricted"}) == []
    (finding,) = warned(Node(tmp_path / "2", "kubeadm-overriding-flags"), {"cgroup_driver": "systemd"})
    assert finding.evidence == ("/var/lib/kubelet/kubeadm-flags.env",)


def test_an_aligned_node_causes_no_warning(tmp_path: Path) -> None:
    assert warned(Node(tmp_path, "kubespray"), {"cgroup_driver": "systemd"}) == []


def test_the_arguments_of_an_older_k3s(tmp_path: Path) -> None:
    assert kubelet_arguments(desired_fields(profile(DESIRED))) == (
        "cgroup-driver=systemd, cpu-manager-policy=static, topology-manager-policy=restricted, read-only-port=0,"
        " system-reserved=cpu=500m,ephemeral-storage=1Gi"
    )
