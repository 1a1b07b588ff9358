# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The KubeletConfiguration fields this collection manages or reads, and the deprecated flags that override them.

Source: kubernetes/kubernetes pkg/kubelet/apis/config/v1beta1/defaults.go and cmd/kubelet/app/options/options.go; the
first version of a field: kubernetes/kubelet config/v1beta1/types.go, tags v0.17.0 to v0.37.0-beta.0.
"""

from __future__ import annotations

from dataclasses import dataclass

Version = tuple[int, int]

OLDEST: Version = (1, 20)
"""The oldest Kubernetes supported: what came later needs a known version."""


@dataclass(frozen=True)
class KubeletField:
    key: str
    flag: str
    """Empty for a field that only a file can set."""
    default: str | None
    shape: str = "word"
    """``word``, ``switch``, ``table`` (key=value, ...), ``thresholds`` (key<value, ...), ``list`` or ``memory``."""
    since: Version = (1, 0)
    """The first version that has the field."""
    option: str = ""
    """The profile's name for it; empty where it is only read."""
    later: tuple[tuple[Version, str | None], ...] = ()
    """Defaults that took the place of ``default``, oldest first."""

    def default_in(self, version: Version | None) -> str | None:
        """What holds where the field is not set; None for nothing, or where an unknown version decides."""
        if version is None:
            return None if self.later else self.default
        if version < self.since:
            return None
        return next((value for since, value in reversed(self.later) if version >= since), self.default)


CGROUP_DRIVER = KubeletField("cgroupDriver", "--cgroup-driver", "cgroupfs", option="cgroup_driver")
CGROUP_ROOT = KubeletField("cgroupRoot", "--cgroup-root", None, option="cgroup_root")
ENFORCE_NODE_ALLOCATABLE = KubeletField(
    "enforceNodeAllocatable", "--enforce-node-allocatable", None, "list", option="enforce_node_allocatable"
)
SYSTEM_RESERVED = KubeletField("systemReserved", "--system-reserved", None, "table", option="system_reserved")
KUBE_RESERVED = KubeletField("kubeReserved", "--kube-reserved", None, "table", option="kube_reserved")
SYSTEM_RESERVED_CGROUP = KubeletField(
    "systemReservedCgroup", "--system-reserved-cgroup", None, option="system_reserved_cgroup"
)
KUBE_RESERVED_CGROUP = KubeletField("kubeReservedCgroup", "--kube-reserved-cgroup", None, option="kube_reserved_cgroup")
RESERVED_SYSTEM_CPUS = KubeletField("reservedSystemCPUs", "--reserved-cpus", None, option="reserved_system_cpus")
CPU_MANAGER_POLICY = KubeletField("cpuManagerPolicy", "--cpu-manager-policy", "none", option="cpu_manager_policy")
CPU_MANAGER_OPTIONS = KubeletField(
    "cpuManagerPolicyOptions",
    "--cpu-manager-policy-options",
    None,
    "table",
    since=(1, 22),
    option="cpu_manager_policy_options",
)
TOPOLOGY_MANAGER_POLICY = KubeletField(
    "topologyManagerPolicy", "--topology-manager-policy", "none", option="topology_manager_policy"
)
TOPOLOGY_MANAGER_SCOPE = KubeletField(
    "topologyManagerScope", "--topology-manager-scope", "container", since=(1, 20), option="topology_manager_scope"
)
TOPOLOGY_MANAGER_OPTIONS = KubeletField(
    "topologyManagerPolicyOptions",
    "--topology-manager-policy-options",
    None,
    "table",
    since=(1, 26),
    option="topology_manager_policy_options",
)
MEMORY_MANAGER_POLICY = KubeletField(
    "memoryManagerPolicy", "--memory-manager-policy", "None", since=(1, 21), option="memory_manager_policy"
)
RESERVED_MEMORY = KubeletField(
    "reservedMemory", "--reserved-memory", None, "memory", since=(1, 21), option="reserved_memory"
)
# KEP-2570: 0.9 since 1.27, none since 1.37.
MEMORY_THROTTLING_FACTOR = KubeletField(
    "memoryThrottlingFactor",
    "",
    "0.8",
    since=(1, 22),
    option="memory_throttling_factor",
    later=(((1, 27), "0.9"), ((1, 37), None)),
)
# KEP-5573: true since 1.35.
FAIL_CGROUP_V1 = KubeletField(
    "failCgroupV1",
    "--fail-cgroupv1",
    "false",
    "switch",
    since=(1, 31),
    option="fail_cgroup_v1",
    later=(((1, 35), "true"),),
)
SINGLE_PROCESS_OOM_KILL = KubeletField(
    "singleProcessOOMKill", "", None, "switch", since=(1, 32), option="single_process_oom_kill"
)
POD_PIDS_LIMIT = KubeletField("podPidsLimit", "--pod-max-pids", "-1", option="pod_pids_limit")
READ_ONLY_PORT = KubeletField("readOnlyPort", "--read-only-port", "0", option="read_only_port")
FEATURE_GATES = KubeletField("featureGates", "--feature-gates", None, "table", option="feature_gates")

EVICTION_HARD = KubeletField("evictionHard", "--eviction-hard", None, "thresholds")
CGROUPS_PER_QOS = KubeletField("cgroupsPerQOS", "--cgroups-per-qos", "true", "switch")
FAIL_SWAP_ON = KubeletField("failSwapOn", "--fail-swap-on", "true", "switch")
RUNTIME_ENDPOINT = KubeletField("containerRuntimeEndpoint", "--container-runtime-endpoint", None)
MEMORY_RESERVATION_POLICY = KubeletField("memoryReservationPolicy", "", None, since=(1, 36), later=(((1, 36), "None"),))
STATIC_POD_PATH = KubeletField("staticPodPath", "--pod-manifest-path", None)
# They decide only where kubelet is asked for its health.
HEALTHZ_PORT = KubeletField("healthzPort", "--healthz-port", "10248")
HEALTHZ_BIND_ADDRESS = KubeletField("healthzBindAddress", "--healthz-bind-address", "127.0.0.1")

FIELDS = (
    CGROUP_DRIVER,
    CGROUP_ROOT,
    CPU_MANAGER_POLICY,
    CPU_MANAGER_OPTIONS,
    TOPOLOGY_MANAGER_POLICY,
    TOPOLOGY_MANAGER_SCOPE,
    TOPOLOGY_MANAGER_OPTIONS,
    MEMORY_MANAGER_POLICY,
    RESERVED_MEMORY,
    RESERVED_SYSTEM_CPUS,
    SYSTEM_RESERVED_CGROUP,
    KUBE_RESERVED_CGROUP,
    ENFORCE_NODE_ALLOCATABLE,
    MEMORY_THROTTLING_FACTOR,
    FAIL_CGROUP_V1,
    SINGLE_PROCESS_OOM_KILL,
    POD_PIDS_LIMIT,
    READ_ONLY_PORT,
    FEATURE_GATES,
    SYSTEM_RESERVED,
    KUBE_RESERVED,
)
"""All that a profile can set, in the order in which changes are told."""

OBSERVED = (
    *FIELDS,
    EVICTION_HARD,
    CGROUPS_PER_QOS,
    FAIL_SWAP_ON,
    RUNTIME_ENDPOINT,
    MEMORY_RESERVATION_POLICY,
    STATIC_POD_PATH,
)
"""All whose value in force is told; the node side keeps the same ones of /configz."""
