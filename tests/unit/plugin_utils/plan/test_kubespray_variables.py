# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubespray's variables for a profile, by the templates and defaults of its releases v2.25.0 to v2.31.0."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.draft import PlanDraft
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.kubespray_variables import kubespray_variables
from ansible_collections.volcano.colocation.tests.support.hosts.host_layouts import Node, profile


def variables(directory: Path, options: dict[str, Any], version: str = "1.35.4", **live: Any) -> dict[str, Any]:
    node = Node(directory, "kubespray", live={"kubelet": {"version": f"Kubernetes v{version}"}, **live})
    return kubespray_variables(PlanDraft(node.facts, profile(options)))


def test_each_field_has_its_variable(tmp_path: Path) -> None:
    options = {
        "cgroup_driver": "systemd",
        "cpu_manager_policy": "static",
        "topology_manager_policy": "restricted",
        "topology_manager_scope": "pod",
        "read_only_port": 0,
        "pod_pids_limit": 4096,
        "enforce_node_allocatable": ["pods"],
    }
    assert variables(tmp_path, options) == {
        "kubelet_cgroup_driver": "systemd",
        "containerd_use_systemd_cgroup": True,
        "kubelet_cpu_manager_policy": "static",
        "kubelet_topology_manager_policy": "restricted",
        "kubelet_topology_manager_scope": "pod",
        "kube_read_only_port": 0,
        "kubelet_pod_pids_limit": 4096,
        "kubelet_enforce_node_allocatable": "pods",
    }


def test_tables_and_gates_have_theirs(tmp_path: Path) -> None:
    options = {"cpu_manager_policy_options": {"full-pcpus-only": True}, "feature_gates": {"MemoryQoS": True}}
    assert variables(tmp_path, options) == {
        "kubelet_cpu_manager_policy_options": {"full-pcpus-only": "true"},
        "kubelet_feature_gates": ["MemoryQoS=true"],
    }


def test_a_field_without_a_variable_is_an_extra_argument(tmp_path: Path) -> None:
    options = {"reserved_system_cpus": "0", "topology_manager_policy_options": {"max-allowable-numa-nodes": 16}}
    assert variables(tmp_path, options) == {
        "kubelet_config_extra_args": {
            "reservedSystemCPUs": "0",
            "topologyManagerPolicyOptions": {"max-allowable-numa-nodes": "16"},
        }
    }


@pytest.mark.parametrize(
    ("version", "switch"), [("1.35.4", {}), ("1.30.0", {}), ("1.29.5", {"system_reserved": True}), ("", {})]
)
def test_reservations_need_a_switch_only_before_2_26(version: str, switch: dict[str, bool], tmp_path: Path) -> None:
    """With the switch, newer releases would also write systemReservedCgroup (kubespray#11367)."""
    options = {"system_reserved": {"cpu": "500m", "ephemeral-storage": "1Gi"}}
    assert variables(tmp_path, options, version) == {
        **switch,
        "system_cpu_reserved": "500m",
        "system_ephemeral_storage_reserved": "1Gi",
    }


def test_a_reserved_cgroup_is_written_with_the_switch_only(tmp_path: Path) -> None:
    assert variables(tmp_path, {"kube_reserved_cgroup": "/site.slice/site-runtime.slice"}) == {
        "kube_reserved": True,
        "kube_reserved_cgroups": "/site.slice/site-runtime.slice",
        "kube_reserved_cgroups_for_service_slice": "site-runtime.slice",
    }


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("1.35.4", {"kubelet_fail_cgroup_v1": False}),
        ("1.34.3", {"kubelet_config_extra_args": {"failCgroupV1": False}}),
    ],
)
def test_a_field_of_the_template_is_no_extra_argument(version: str, expected: dict[str, Any], tmp_path: Path) -> None:
    """kubelet does not start with a field that its file has twice."""
    assert variables(tmp_path, {"fail_cgroup_v1": False}, version) == expected


def test_the_cgroup_root_is_not_overridden_with_the_cgroupfs_driver(tmp_path: Path) -> None:
    """roles/kubernetes/node/tasks/facts.yml merges kubelet_config_extra_args_cgroupfs over the extra arguments."""
    systemd = variables(tmp_path / "1", {"cgroup_root": "/pods"})
    assert systemd == {"kubelet_config_extra_args": {"cgroupRoot": "/pods"}}
    cgroupfs = variables(tmp_path / "2", {"cgroup_root": "/pods", "cgroup_driver": "cgroupfs"})
    assert cgroupfs == {
        "kubelet_cgroup_driver": "cgroupfs",
        "containerd_use_systemd_cgroup": False,
        "kubelet_config_extra_args_cgroupfs": {"systemCgroups": "/system.slice", "cgroupRoot": "/pods"},
    }


@pytest.mark.parametrize("enabled", [True, False])
def test_nri_has_a_variable(enabled: bool, tmp_path: Path) -> None:
    assert variables(tmp_path, {"nri": {"enabled": enabled}}) == {"nri_enabled": enabled}


def test_paths_of_nri_stay_in_the_drop_in_whose_import_is_kept(tmp_path: Path) -> None:
    options = {"nri": {"enabled": True, "plugin_path": "/opt/site"}, "containerd_strategy": "drop-in"}
    assert variables(tmp_path / "1", options) == {
        "nri_enabled": True,
        "containerd_extra_args": 'imports = ["/etc/containerd/conf.d/zz-volcano-colocation.toml"]',
    }
    assert variables(tmp_path / "2", {**options, "containerd_strategy": "main-file"}) == {"nri_enabled": True}
