# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Combinations of kubelet's fields: a version, the profile, the code of the refusal or None, and words of its message.

Expectations are those of kubernetes pkg/kubelet/apis/config/validation, pkg/kubelet/cm/cpumanager, topologymanager and
memorymanager, pkg/features/kube_features.go, version by version.
"""

from __future__ import annotations

from typing import Any

Options = dict[str, Any]

ALPHA = {"feature_gates": {"CPUManagerPolicyAlphaOptions": True}}


def cpu_options(**on: str) -> Options:
    return {"cpu_manager_policy_options": {name.replace("_", "-"): value for name, value in on.items()}}


def topology(policy: str, **options: str) -> Options:
    named = {name.replace("_", "-"): value for name, value in options.items()}
    return {"topology_manager_policy": policy, "topology_manager_policy_options": named}


def memory(*limits: dict[str, Any], nodes: tuple[int, ...] = (0, 1), **more: Any) -> Options:
    entries = [{"numaNode": number, "limits": limit} for number, limit in zip(nodes, limits, strict=False)]
    return {"memory_manager_policy": "Static", "reserved_memory": entries, **more}


def enforced(*levels: str, **more: Any) -> Options:
    return {"enforce_node_allocatable": list(levels), **more}


SYSTEM = {"system_reserved_cgroup": "/system.slice"}
KUBE = {"kube_reserved_cgroup": "/runtime.slice"}
GIB: dict[str, Any] = {"system_reserved": {"cpu": "500m", "memory": "1Gi"}}

CASES: dict[str, tuple[str, Options, str | None, str]] = {
    # A field and the first version that has it: kubernetes/kubelet config/v1beta1/types.go.
    "CPU options, 1.21": (
        "1.21.14",
        cpu_options(full_pcpus_only="false"),
        "kubelet-too-old-for-field",
        "cpuManagerPolicyOptions, which was added in 1.22",
    ),
    "CPU options, 1.22 with its gates": (
        "1.22.17",
        {**cpu_options(full_pcpus_only="true"), "feature_gates": {"CPUManagerPolicyOptions": True}},
        "manager-options-refused",
        "needs the gate CPUManagerPolicyAlphaOptions",
    ),
    "CPU options, 1.23": ("1.23.17", cpu_options(full_pcpus_only="true"), None, ""),
    "topology scope, 1.19": (
        "1.19.16",
        {"topology_manager_scope": "pod"},
        "kubelet-too-old-for-field",
        "was added in 1.20",
    ),
    "topology scope, 1.20": ("1.20.15", {"topology_manager_scope": "pod"}, None, ""),
    "topology options, 1.25": (
        "1.25.16",
        topology("restricted", prefer_closest_numa_nodes="true"),
        "kubelet-too-old-for-field",
        "was added in 1.26",
    ),
    "memory manager, 1.20": (
        "1.20.15",
        {"memory_manager_policy": "None"},
        "kubelet-too-old-for-field",
        "was added in 1.21",
    ),
    "memory manager, 1.21": ("1.21.14", {"memory_manager_policy": "None"}, None, ""),
    "reserved memory, 1.20": (
        "1.20.15",
        {"reserved_memory": [{"numaNode": 0, "limits": {"memory": "1Gi"}}]},
        "kubelet-too-old-for-field",
        "reservedMemory",
    ),
    "reserved memory of no manager, 1.21": (
        "1.21.14",
        {"reserved_memory": [{"numaNode": 0, "limits": {"memory": "1Gi"}}]},
        None,
        "",
    ),
    "throttling factor, 1.21": (
        "1.21.14",
        {"memory_throttling_factor": 0.7},
        "kubelet-too-old-for-field",
        "was added in 1.22",
    ),
    "throttling factor, 1.22": ("1.22.17", {"memory_throttling_factor": 0.7}, None, ""),
    "failCgroupV1, 1.30": ("1.30.14", {"fail_cgroup_v1": False}, "kubelet-too-old-for-field", "was added in 1.31"),
    "failCgroupV1, 1.31": ("1.31.14", {"fail_cgroup_v1": True}, None, ""),
    "singleProcessOOMKill, 1.31": (
        "1.31.14",
        {"single_process_oom_kill": True},
        "kubelet-too-old-for-field",
        "singleProcessOOMKill, which was added in 1.32",
    ),
    "singleProcessOOMKill, 1.32": ("1.32.13", {"single_process_oom_kill": False}, None, ""),
    "podPidsLimit, 1.20": ("1.20.15", {"pod_pids_limit": 4096}, None, ""),
    # CPU manager options by version and gate: cpumanager/policy_options.go.
    "distribute across NUMA, 1.32": (
        "1.32.13",
        cpu_options(distribute_cpus_across_numa="true"),
        "manager-options-refused",
        "needs the gate CPUManagerPolicyAlphaOptions",
    ),
    "distribute across NUMA, 1.32 with the gate": (
        "1.32.13",
        {**cpu_options(distribute_cpus_across_numa="true"), **ALPHA},
        None,
        "",
    ),
    "distribute across NUMA, 1.33": ("1.33.13", cpu_options(distribute_cpus_across_numa="true"), None, ""),
    "strict reservation, 1.31": (
        "1.31.14",
        {**cpu_options(strict_cpu_reservation="true"), **ALPHA},
        "manager-options-refused",
        "Kubernetes 1.31 has no option strict-cpu-reservation",
    ),
    "strict reservation, 1.32": (
        "1.32.13",
        cpu_options(strict_cpu_reservation="true"),
        "manager-options-refused",
        "CPUManagerPolicyAlphaOptions",
    ),
    "strict reservation, 1.33": ("1.33.13", cpu_options(strict_cpu_reservation="true"), None, ""),
    "uncore cache, 1.33": (
        "1.33.13",
        cpu_options(prefer_align_cpus_by_uncorecache="true"),
        "manager-options-refused",
        "CPUManagerPolicyAlphaOptions",
    ),
    "uncore cache, 1.34": ("1.34.9", cpu_options(prefer_align_cpus_by_uncorecache="true"), None, ""),
    "beta options switched off": (
        "1.30.14",
        {**cpu_options(full_pcpus_only="true"), "feature_gates": {"CPUManagerPolicyBetaOptions": False}},
        "manager-options-refused",
        "needs the gate CPUManagerPolicyBetaOptions",
    ),
    "an option that is neither true nor false": (
        "1.33.13",
        cpu_options(full_pcpus_only="yes"),
        "manager-options-refused",
        "neither true nor false",
    ),
    "options under policy none": (
        "1.33.13",
        {"cpu_manager_policy": "none", **cpu_options(full_pcpus_only="true")},
        "manager-options-refused",
        "cpuManagerPolicy none does not accept options",
    ),
    "full cores × across cores": (
        "1.33.13",
        {**cpu_options(full_pcpus_only="true", distribute_cpus_across_cores="true"), **ALPHA},
        "manager-options-refused",
        "exclude each other",
    ),
    "across NUMA × across cores": (
        "1.33.13",
        {**cpu_options(distribute_cpus_across_numa="true", distribute_cpus_across_cores="true"), **ALPHA},
        "manager-options-refused",
        "exclude each other",
    ),
    "uncore cache × across cores": (
        "1.34.9",
        {**cpu_options(prefer_align_cpus_by_uncorecache="true", distribute_cpus_across_cores="true"), **ALPHA},
        "manager-options-refused",
        "exclude each other",
    ),
    "uncore cache × across NUMA": (
        "1.34.9",
        cpu_options(prefer_align_cpus_by_uncorecache="true", distribute_cpus_across_numa="true"),
        "manager-options-refused",
        "exclude each other",
    ),
    "full cores and across NUMA": (
        "1.33.13",
        cpu_options(full_pcpus_only="true", distribute_cpus_across_numa="true"),
        None,
        "",
    ),
    "full cores and across cores, one off": (
        "1.33.13",
        {**cpu_options(full_pcpus_only="true", distribute_cpus_across_cores="false"), **ALPHA},
        None,
        "",
    ),
    "by socket × single NUMA node": (
        "1.33.13",
        {**cpu_options(align_by_socket="true"), **ALPHA, "topology_manager_policy": "single-numa-node"},
        "manager-options-refused",
        "align-by-socket cannot be combined with topologyManagerPolicy single-numa-node",
    ),
    "by socket, restricted": (
        "1.33.13",
        {**cpu_options(align_by_socket="true"), **ALPHA, "topology_manager_policy": "restricted"},
        None,
        "",
    ),
    # Topology manager: topologymanager/policy_options.go.
    "closest NUMA, 1.27": (
        "1.27.16",
        topology("restricted", prefer_closest_numa_nodes="true"),
        "manager-options-refused",
        "TopologyManagerPolicyOptions is off",
    ),
    "closest NUMA, 1.28": ("1.28.15", topology("restricted", prefer_closest_numa_nodes="true"), None, ""),
    "allowable NUMA, 1.30": (
        "1.30.14",
        topology("restricted", max_allowable_numa_nodes="9"),
        "manager-options-refused",
        "1.30 has no option max-allowable",
    ),
    "allowable NUMA, 1.31": ("1.31.14", topology("restricted", max_allowable_numa_nodes="9"), None, ""),
    "allowable NUMA below 8": (
        "1.31.14",
        topology("restricted", max_allowable_numa_nodes="7"),
        "manager-options-refused",
        "not a number of 8 or more",
    ),
    # Gates: pkg/features/kube_features.go.
    "MemoryQoS, 1.21": (
        "1.21.14",
        {"feature_gates": {"MemoryQoS": True}},
        "feature-gates-refused",
        "MemoryQoS was added in 1.22",
    ),
    "MemoryQoS, 1.22": ("1.22.17", {"feature_gates": {"MemoryQoS": True}}, None, ""),
    "a gate that is locked, 1.34": (
        "1.34.9",
        {"feature_gates": {"KubeletCgroupDriverFromCRI": False}},
        "feature-gates-refused",
        "locked to true since 1.34",
    ),
    "a gate that is not locked yet, 1.33": (
        "1.33.13",
        {"feature_gates": {"KubeletCgroupDriverFromCRI": False}},
        None,
        "",
    ),
    "a locked gate that is on": ("1.34.9", {"feature_gates": {"KubeletCgroupDriverFromCRI": True}}, None, ""),
    "a gate that the collection does not know": ("1.34.9", {"feature_gates": {"SomethingNew": True}}, None, ""),
    # enforceNodeAllocatable: validation.go of 1.31, 1.32 and 1.36.
    "enforced without a cgroup": (
        "1.30.14",
        enforced("pods", "system-reserved"),
        "enforcement-refused",
        "system-reserved needs systemReservedCgroup",
    ),
    "enforced with the wrong cgroup": (
        "1.30.14",
        enforced("pods", "kube-reserved", **SYSTEM),
        "enforcement-refused",
        "kube-reserved needs kubeReservedCgroup",
    ),
    "enforced with its cgroup": ("1.30.14", enforced("pods", "system-reserved", **SYSTEM), None, ""),
    "none with others": ("1.30.14", enforced("none", "pods"), "enforcement-refused", "none excludes all others"),
    "none alone": ("1.30.14", enforced("none"), None, ""),
    "compressible, 1.31": (
        "1.31.14",
        enforced("pods", "system-reserved-compressible", **SYSTEM),
        "enforcement-refused",
        "system-reserved-compressible was added in kubelet 1.32",
    ),
    "compressible, 1.32": ("1.32.13", enforced("pods", "system-reserved-compressible", **SYSTEM), None, ""),
    "both forms": (
        "1.32.13",
        enforced("system-reserved", "system-reserved-compressible", **SYSTEM),
        "enforcement-refused",
        "system-reserved and system-reserved-compressible exclude each other",
    ),
    "each in its own form": (
        "1.32.13",
        enforced("system-reserved", "kube-reserved-compressible", **SYSTEM, **KUBE),
        None,
        "",
    ),
    "named CPUs with a cgroup": (
        "1.30.14",
        {"reserved_system_cpus": "0", **SYSTEM},
        "reserved-cpus-with-cgroups",
        "reservedSystemCPUs together with systemReservedCgroup",
    ),
    "named CPUs": ("1.30.14", {"reserved_system_cpus": "0"}, None, ""),
    # Memory manager: memorymanager/memory_manager.go, policy_static.go, validation_reserved_memory.go.
    "the equation holds": ("1.30.14", memory({"memory": "1Gi"}, {"memory": "64Mi"}, **GIB), None, ""),
    "the equation does not hold": (
        "1.30.14",
        memory({"memory": "1Gi"}, {"memory": "63Mi"}, **GIB),
        "reserved-memory-unequal",
        "reservedMemory: 1139802112 bytes",
    ),
    "no reserved memory": (
        "1.30.14",
        {"memory_manager_policy": "Static", **GIB},
        "reserved-memory-unequal",
        "reservedMemory: 0 bytes",
    ),
    "huge pages": (
        "1.30.14",
        memory({"memory": "1088Mi", "hugepages-2Mi": "2Mi"}, **GIB),
        "reserved-hugepages",
        "hugepages-2Mi",
    ),
    "a NUMA node that is not there": (
        "1.30.14",
        memory({"memory": "1088Mi"}, nodes=(2,), **GIB),
        "reserved-memory-refused",
        "NUMA node 2 does not exist; the node has 0, 1",
    ),
    "Static without its gate, 1.21": (
        "1.21.14",
        memory({"memory": "1088Mi"}, **GIB),
        "memory-manager-off",
        "the gate MemoryManager is off",
    ),
    "Static with its gate, 1.21": (
        "1.21.14",
        memory({"memory": "1088Mi"}, **GIB, feature_gates={"MemoryManager": True}),
        None,
        "",
    ),
}
