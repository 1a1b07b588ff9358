# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The KubeletConfiguration fields this collection manages or reads, and the deprecated flags that override them.

Source: kubernetes/kubernetes pkg/kubelet/apis/config/v1beta1/defaults.go and cmd/kubelet/app/options/options.go.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class KubeletField:
    key: str
    flag: str
    """Empty for a field that only a file can set."""
    default: str | None
    shape: str = "word"
    """``word``, ``switch``, ``table`` (key=value, ...), ``thresholds`` (key<value, ...), ``list`` or ``memory``."""
    since: tuple[int, int] = (1, 0)
    """The first version whose default holds; before it there is no such field."""


CGROUP_DRIVER = KubeletField("cgroupDriver", "--cgroup-driver", "cgroupfs")
CPU_MANAGER_POLICY = KubeletField("cpuManagerPolicy", "--cpu-manager-policy", "none")
TOPOLOGY_MANAGER_POLICY = KubeletField("topologyManagerPolicy", "--topology-manager-policy", "none")
RESERVED_SYSTEM_CPUS = KubeletField("reservedSystemCPUs", "--reserved-cpus", None)
SYSTEM_RESERVED = KubeletField("systemReserved", "--system-reserved", None, "table")
KUBE_RESERVED = KubeletField("kubeReserved", "--kube-reserved", None, "table")
READ_ONLY_PORT = KubeletField("readOnlyPort", "--read-only-port", "0")
CPU_MANAGER_OPTIONS = KubeletField("cpuManagerPolicyOptions", "--cpu-manager-policy-options", None, "table")
TOPOLOGY_MANAGER_OPTIONS = KubeletField(
    "topologyManagerPolicyOptions", "--topology-manager-policy-options", None, "table"
)
TOPOLOGY_MANAGER_SCOPE = KubeletField("topologyManagerScope", "--topology-manager-scope", "container", since=(1, 20))
MEMORY_MANAGER_POLICY = KubeletField("memoryManagerPolicy", "--memory-manager-policy", "None", since=(1, 21))
RESERVED_MEMORY = KubeletField("reservedMemory", "--reserved-memory", None, "memory")
EVICTION_HARD = KubeletField("evictionHard", "--eviction-hard", None, "thresholds")
ENFORCE_NODE_ALLOCATABLE = KubeletField("enforceNodeAllocatable", "--enforce-node-allocatable", None, "list")
SYSTEM_RESERVED_CGROUP = KubeletField("systemReservedCgroup", "--system-reserved-cgroup", None)
KUBE_RESERVED_CGROUP = KubeletField("kubeReservedCgroup", "--kube-reserved-cgroup", None)
CGROUP_ROOT = KubeletField("cgroupRoot", "--cgroup-root", None)
CGROUPS_PER_QOS = KubeletField("cgroupsPerQOS", "--cgroups-per-qos", "true", "switch")
FAIL_CGROUP_V1 = KubeletField("failCgroupV1", "--fail-cgroupv1", None, "switch")
FAIL_SWAP_ON = KubeletField("failSwapOn", "--fail-swap-on", "true", "switch")
FEATURE_GATES = KubeletField("featureGates", "--feature-gates", None, "table")
RUNTIME_ENDPOINT = KubeletField("containerRuntimeEndpoint", "--container-runtime-endpoint", None)
MEMORY_THROTTLING_FACTOR = KubeletField("memoryThrottlingFactor", "", None)
MEMORY_RESERVATION_POLICY = KubeletField("memoryReservationPolicy", "", None)
STATIC_POD_PATH = KubeletField("staticPodPath", "--pod-manifest-path", None)

FIELDS = (
    CGROUP_DRIVER,
    CPU_MANAGER_POLICY,
    TOPOLOGY_MANAGER_POLICY,
    RESERVED_SYSTEM_CPUS,
    SYSTEM_RESERVED,
    KUBE_RESERVED,
    READ_ONLY_PORT,
)

OBSERVED = (
    *FIELDS,
    CPU_MANAGER_OPTIONS,
    TOPOLOGY_MANAGER_OPTIONS,
    TOPOLOGY_MANAGER_SCOPE,
    MEMORY_MANAGER_POLICY,
    RESERVED_MEMORY,
    EVICTION_HARD,
    ENFORCE_NODE_ALLOCATABLE,
    SYSTEM_RESERVED_CGROUP,
    KUBE_RESERVED_CGROUP,
    CGROUP_ROOT,
    CGROUPS_PER_QOS,
    FAIL_CGROUP_V1,
    FAIL_SWAP_ON,
    FEATURE_GATES,
    RUNTIME_ENDPOINT,
    MEMORY_THROTTLING_FACTOR,
    MEMORY_RESERVATION_POLICY,
    STATIC_POD_PATH,
)
"""All whose value in force is told; the node side keeps the same ones of /configz."""
