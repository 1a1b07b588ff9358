# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Variables for kubespray's inventory, with which its next run writes the values of the profile again.

Sources, kubespray v2.25.0 to v2.31.0: roles/kubernetes/node/templates/kubelet-config.v1beta1.yaml.j2,
roles/kubernetes/node/tasks/facts.yml, roles/container-engine/containerd/templates/config.toml.j2 and
roles/kubespray_defaults/defaults/main/main.yml. kubelet_config_extra_args is appended to kubelet's file, so it must not
have a field that the template already writes.
"""

from __future__ import annotations

from typing import Any

from ...module_utils.cgroup.kubelet_names import Driver
from ..profile.kubelet_fields import CGROUP_ROOT, FAIL_CGROUP_V1
from ..releases.containerd_schema import OWN_DROP_IN
from ..releases.versions import minor
from .containerd_location import DROP_IN, strategy
from .desired_state import PlanInputs

FIELDS = {
    "cgroupDriver": "kubelet_cgroup_driver",
    "cpuManagerPolicy": "kubelet_cpu_manager_policy",
    "topologyManagerPolicy": "kubelet_topology_manager_policy",
    "topologyManagerScope": "kubelet_topology_manager_scope",
    "readOnlyPort": "kube_read_only_port",
    "podPidsLimit": "kubelet_pod_pids_limit",
}
"""Variables by the field whose value they have."""
TABLES = {"cpuManagerPolicyOptions": "kubelet_cpu_manager_policy_options"}
LISTS = {"enforceNodeAllocatable": "kubelet_enforce_node_allocatable"}
RESERVED = {"kubeReserved": "kube", "systemReserved": "system"}
RESERVED_CGROUPS = {"kubeReservedCgroup": "kube", "systemReservedCgroup": "system"}

RESERVES_ALWAYS_SINCE = (1, 30)
"""The oldest kubelet of which each kubespray writes reservations without kube_reserved and system_reserved.

v2.26.0, the first that does (kubespray#11367), installs Kubernetes 1.28 to 1.30, and v2.25.0 1.27 to 1.29.
"""
FAIL_CGROUP_V1_SINCE = (1, 35)
"""v2.31.0: the template writes failCgroupV1 for this kubelet and newer."""
CGROUPFS_ARGUMENTS = {"systemCgroups": "/system.slice", "cgroupRoot": "/"}
"""kubelet_config_extra_args_cgroupfs, which overrides kubelet_config_extra_args with the cgroupfs driver."""


def kubespray_variables(inputs: PlanInputs) -> dict[str, Any]:
    """The variables by name, for the fields of kubelet and the settings of containerd that the profile sets."""
    variables: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    for _field, keys, value in inputs.desired:
        _add_field(inputs, keys, value, variables, extra)
    if CGROUP_ROOT.key in extra and inputs.driver_after.kubelet is Driver.CGROUPFS:
        variables["kubelet_config_extra_args_cgroupfs"] = {
            **CGROUPFS_ARGUMENTS,
            CGROUP_ROOT.key: extra.pop(CGROUP_ROOT.key),
        }
    if extra:
        variables["kubelet_config_extra_args"] = extra
    return {**variables, **_runtime_variables(inputs)}


def _add_field(
    inputs: PlanInputs, keys: tuple[str, ...], value: Any, variables: dict[str, Any], extra: dict[str, Any]
) -> None:
    """Add one value to the variable that the template reads."""
    key, inner = keys[0], keys[1] if len(keys) > 1 else None
    version = minor(inputs.kubelet.version)
    if key in FIELDS:
        variables[FIELDS[key]] = value
    elif key in LISTS:
        variables[LISTS[key]] = ",".join(value)
    elif key in RESERVED_CGROUPS:
        variables.update(_reserved_cgroup(RESERVED_CGROUPS[key], value))
    elif key == FAIL_CGROUP_V1.key and version is not None and version >= FAIL_CGROUP_V1_SINCE:
        variables["kubelet_fail_cgroup_v1"] = value
    elif key == "featureGates" and inner:
        variables.setdefault("kubelet_feature_gates", []).append(f"{inner}={str(value).lower()}")
    elif key in TABLES and inner:
        variables.setdefault(TABLES[key], {})[inner] = value
    elif key in RESERVED and inner:
        side = RESERVED[key]
        if version is not None and version < RESERVES_ALWAYS_SINCE:
            variables[f"{side}_reserved"] = True
        variables[f"{side}_{inner.replace('-', '_')}_reserved"] = value
    elif inner:
        extra.setdefault(key, {})[inner] = value
    else:
        extra[key] = value


def _reserved_cgroup(side: str, path: str) -> dict[str, Any]:
    """kubespray also puts kubelet and the runtime into the slice of ``kube``."""
    return {
        f"{side}_reserved": True,
        f"{side}_reserved_cgroups": path,
        f"{side}_reserved_cgroups_for_service_slice": path.rpartition("/")[2],
    }


def _runtime_variables(inputs: PlanInputs) -> dict[str, Any]:
    """The cgroup driver of containerd has another variable than kubelet's (kubespray#8122)."""
    profile, runtime = inputs.profile, inputs.runtime
    variables: dict[str, Any] = {}
    if profile.cgroup_driver and runtime.name == "containerd":
        variables["containerd_use_systemd_cgroup"] = profile.cgroup_driver is Driver.SYSTEMD
    if profile.nri.enabled is not None:
        variables["nri_enabled"] = profile.nri.enabled
    if profile.nri.settings and strategy(runtime, profile.containerd_strategy) == DROP_IN:
        # The template has no variables for them, and drops the import of the file that has them.
        variables["containerd_extra_args"] = f'imports = ["{OWN_DROP_IN}"]'
    return variables
