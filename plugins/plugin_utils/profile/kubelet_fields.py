# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of KubeletConfiguration's fields that this collection sets or reads.

To add a setting, add a row with ``option`` and run `make docs`, which writes the documentation, the role's variables
and the list for the node's side. Sources for all: kubernetes/kubernetes pkg/kubelet/apis/config/v1beta1
(defaults.go) and cmd/kubelet/app/options/options.go; the first version: kubernetes/kubelet config/v1beta1/types.go,
tags v0.17.0 to v0.37.0-beta.0.
"""

from __future__ import annotations

from ..releases import minimum_versions
from ..releases.kubelet_features import DRIVER_FROM_CRI
from ..releases.versions import Version
from . import validators as check
from .field_schema import (
    FieldImpact,
    FieldType,
    KubeletField,
    same_cpus,
    same_members,
    same_memory,
    same_number,
    same_option,
    same_quantity,
    same_root,
)

OLDEST: Version = minimum_versions.KUBELET.minor
"""The oldest supported Kubernetes; newer fields need a known version."""

FIELDS = (
    CGROUP_DRIVER := KubeletField(
        key="cgroupDriver",
        flag="--cgroup-driver",
        default="cgroupfs",
        option="cgroup_driver",
        choices=("systemd", "cgroupfs"),
        check=check.driver,
        impact=FieldImpact.DRAIN,
        role_default="systemd",
        description=(
            "Sets the cgroup driver of both sides, which are kubelet's C(cgroupDriver), and C(SystemdCgroup) of every"
            " containerd handler of runc type or CRI-O's C(cgroup_manager)."
        ),
        source="pkg/kubelet/cm/container_manager_linux.go",
    ),
    CGROUP_ROOT := KubeletField(
        key="cgroupRoot",
        flag="--cgroup-root",
        option="cgroup_root",
        unit="the path of a cgroup",
        check=check.cgroup_root,
        compare=same_root,
        impact=FieldImpact.DRAIN,
        description=(
            "Sets C(cgroupRoot), the cgroup in which kubelet creates its tree, such as V(/pods). It must exist.\n"
            "It is a path under both drivers. Under V(systemd) the path V(/a/b) means C(a-b.slice)."
        ),
        source="pkg/kubelet/cm/container_manager_linux.go",
    ),
    CPU_MANAGER_POLICY := KubeletField(
        key="cpuManagerPolicy",
        flag="--cpu-manager-policy",
        default="none",
        option="cpu_manager_policy",
        choices=("none", "static"),
        impact=FieldImpact.DRAIN,
        role_default="static",
        description="Sets C(cpuManagerPolicy). V(static) needs reserved CPUs, by the profile or on the node.",
        source="pkg/kubelet/cm/cpumanager/policy_static.go",
    ),
    CPU_MANAGER_OPTIONS := KubeletField(
        key="cpuManagerPolicyOptions",
        flag="--cpu-manager-policy-options",
        type=FieldType.TABLE,
        since=(1, 22),
        option="cpu_manager_policy_options",
        unit="a switch or a number by option",
        check=check.policy_options,
        compare=same_option,
        impact=FieldImpact.DRAIN_UNDER_STATIC_CPU,
        description="Sets entries of C(cpuManagerPolicyOptions), such as C(full-pcpus-only=true).",
        source="pkg/kubelet/cm/cpumanager/policy_options.go",
    ),
    TOPOLOGY_MANAGER_POLICY := KubeletField(
        key="topologyManagerPolicy",
        flag="--topology-manager-policy",
        default="none",
        option="topology_manager_policy",
        choices=("none", "best-effort", "restricted", "single-numa-node"),
        description="Sets C(topologyManagerPolicy).",
        source="pkg/kubelet/apis/config/validation/validation.go",
    ),
    TOPOLOGY_MANAGER_SCOPE := KubeletField(
        key="topologyManagerScope",
        flag="--topology-manager-scope",
        default="container",
        since=(1, 20),
        option="topology_manager_scope",
        choices=("container", "pod"),
        description="Sets C(topologyManagerScope), whether each container or the whole pod is aligned.",
        source="pkg/kubelet/apis/config/validation/validation.go",
    ),
    TOPOLOGY_MANAGER_OPTIONS := KubeletField(
        key="topologyManagerPolicyOptions",
        flag="--topology-manager-policy-options",
        type=FieldType.TABLE,
        since=(1, 26),
        option="topology_manager_policy_options",
        unit="a switch or a number by option",
        check=check.policy_options,
        compare=same_option,
        description="Sets entries of C(topologyManagerPolicyOptions), such as C(prefer-closest-numa-nodes=true).",
        source="pkg/kubelet/cm/topologymanager/policy_options.go",
    ),
    MEMORY_MANAGER_POLICY := KubeletField(
        key="memoryManagerPolicy",
        flag="--memory-manager-policy",
        default="None",
        since=(1, 21),
        option="memory_manager_policy",
        choices=("None", "Static"),
        impact=FieldImpact.DRAIN,
        description="Sets C(memoryManagerPolicy), with a capital letter. V(Static) needs O(reserved_memory).",
        source="pkg/kubelet/cm/memorymanager/policy_static.go",
    ),
    RESERVED_MEMORY := KubeletField(
        key="reservedMemory",
        flag="--reserved-memory",
        type=FieldType.MEMORY,
        since=(1, 21),
        option="reserved_memory",
        unit="V(auto) or the whole list",
        check=check.reserved_memory,
        compare=same_memory,
        impact=FieldImpact.DRAIN_UNDER_STATIC_MEMORY,
        description=(
            "Sets C(reservedMemory). Each entry of the list has C(numaNode) and C(limits).\n"
            "V(auto) computes what kubelet requires, the memory of C(systemReserved), C(kubeReserved) and"
            " C(evictionHard), in equal shares on the NUMA nodes that have CPUs."
        ),
        source="pkg/kubelet/apis/config/validation/validation_reserved_memory.go",
    ),
    RESERVED_SYSTEM_CPUS := KubeletField(
        key="reservedSystemCPUs",
        flag="--reserved-cpus",
        option="reserved_system_cpus",
        unit="a Linux CPU list such as V(0-1)",
        check=check.cpu_list,
        compare=same_cpus,
        impact=FieldImpact.DRAIN_UNDER_STATIC_CPU,
        description="Sets C(reservedSystemCPUs). It takes the place of both CPU reservations.",
        source="pkg/kubelet/apis/config/validation/validation.go",
    ),
    SYSTEM_RESERVED_CGROUP := KubeletField(
        key="systemReservedCgroup",
        flag="--system-reserved-cgroup",
        option="system_reserved_cgroup",
        unit="the path of a cgroup",
        check=check.cgroup,
        description=(
            "Sets C(systemReservedCgroup), such as V(/system.slice). The cgroup must exist. Under the V(systemd) driver"
            " it must be a slice."
        ),
        source="pkg/kubelet/cm/node_container_manager_linux.go",
    ),
    KUBE_RESERVED_CGROUP := KubeletField(
        key="kubeReservedCgroup",
        flag="--kube-reserved-cgroup",
        option="kube_reserved_cgroup",
        unit="the path of a cgroup",
        check=check.cgroup,
        description=(
            "Sets C(kubeReservedCgroup), such as V(/runtime.slice). The cgroup must exist. Under the V(systemd) driver"
            " it must be a slice."
        ),
        source="pkg/kubelet/cm/node_container_manager_linux.go",
    ),
    ENFORCE_NODE_ALLOCATABLE := KubeletField(
        key="enforceNodeAllocatable",
        flag="--enforce-node-allocatable",
        type=FieldType.LIST,
        option="enforce_node_allocatable",
        choices=(
            "none",
            "pods",
            "system-reserved",
            "kube-reserved",
            "system-reserved-compressible",
            "kube-reserved-compressible",
        ),
        check=check.enforcement_levels,
        compare=same_members,
        description=(
            "Sets C(enforceNodeAllocatable), the whole list. V(none) enforces nothing and must stand alone.\n"
            "V(system-reserved) needs O(system_reserved_cgroup), V(kube-reserved) needs O(kube_reserved_cgroup). The"
            " cgroup must exist in every controller before kubelet starts.\n"
            "The forms with C(-compressible) enforce CPU only. They require Kubernetes 1.32 or newer."
        ),
        source="pkg/kubelet/apis/config/validation/validation.go",
    ),
    MEMORY_THROTTLING_FACTOR := KubeletField(
        key="memoryThrottlingFactor",
        type=FieldType.NUMBER,
        default="0.8",
        later=(((1, 27), "0.9"), ((1, 37), None)),
        since=(1, 22),
        option="memory_throttling_factor",
        unit="a fraction, more than 0 and at most 1",
        check=check.throttling_factor,
        compare=same_number,
        description="Sets C(memoryThrottlingFactor). It has an effect only where the gate C(MemoryQoS) is on.",
        source="KEP-2570",
    ),
    FAIL_CGROUP_V1 := KubeletField(
        key="failCgroupV1",
        flag="--fail-cgroupv1",
        type=FieldType.SWITCH,
        default="false",
        later=(((1, 35), "true"),),
        since=(1, 31),
        option="fail_cgroup_v1",
        description="Sets C(failCgroupV1). V(false) lets kubelet 1.35 and newer start on cgroup v1.",
        source="KEP-5573",
    ),
    SINGLE_PROCESS_OOM_KILL := KubeletField(
        key="singleProcessOOMKill",
        type=FieldType.SWITCH,
        since=(1, 32),
        option="single_process_oom_kill",
        description=(
            "Sets C(singleProcessOOMKill). With V(true) the kernel kills one process of a container instead of all."
            " V(false) is refused on cgroup v1."
        ),
        source="pkg/kubelet/apis/config/validation/validation_linux.go",
    ),
    POD_PIDS_LIMIT := KubeletField(
        key="podPidsLimit",
        flag="--pod-max-pids",
        type=FieldType.INTEGER,
        default="-1",
        option="pod_pids_limit",
        unit="a number of processes",
        check=check.pids,
        description="Sets C(podPidsLimit), the limit of a pod. V(-1) sets none. Running pods keep what they have.",
        source="pkg/kubelet/apis/config/v1beta1/defaults.go",
    ),
    READ_ONLY_PORT := KubeletField(
        key="readOnlyPort",
        flag="--read-only-port",
        type=FieldType.INTEGER,
        default="0",
        option="read_only_port",
        unit="a TCP port",
        check=check.port,
        description=(
            "Sets C(readOnlyPort). V(0) closes it. Any other port answers everyone who reaches the node, without"
            " authentication."
        ),
        source="pkg/kubelet/apis/config/validation/validation.go",
    ),
    FEATURE_GATES := KubeletField(
        key="featureGates",
        flag="--feature-gates",
        type=FieldType.TABLE,
        option="feature_gates",
        unit="V(true) or V(false) by gate",
        check=check.gates,
        entry_impacts=((DRIVER_FROM_CRI, FieldImpact.DRAIN),),
        description=(
            "Sets entries of C(featureGates), such as C(MemoryQoS=true). kubelet does not start with a gate that it"
            " does not know."
        ),
        source="pkg/features/kube_features.go",
    ),
    SYSTEM_RESERVED := KubeletField(
        key="systemReserved",
        flag="--system-reserved",
        type=FieldType.TABLE,
        option="system_reserved",
        unit="a Kubernetes quantity by resource",
        check=check.reservation,
        compare=same_quantity,
        entry_impacts=(("cpu", FieldImpact.DRAIN_UNDER_STATIC_CPU), ("memory", FieldImpact.DRAIN_UNDER_STATIC_MEMORY)),
        description="Sets entries of C(systemReserved), such as C(cpu=500m).",
        source="cmd/kubelet/app/server.go",
    ),
    KUBE_RESERVED := KubeletField(
        key="kubeReserved",
        flag="--kube-reserved",
        type=FieldType.TABLE,
        option="kube_reserved",
        unit="a Kubernetes quantity by resource",
        check=check.reservation,
        compare=same_quantity,
        entry_impacts=(("cpu", FieldImpact.DRAIN_UNDER_STATIC_CPU), ("memory", FieldImpact.DRAIN_UNDER_STATIC_MEMORY)),
        description="Sets entries of C(kubeReserved), such as C(memory=1Gi).",
        source="cmd/kubelet/app/server.go",
    ),
)
"""All fields that a profile can set, in the order in which changes are reported."""

OBSERVED = (
    *FIELDS,
    EVICTION_HARD := KubeletField(key="evictionHard", flag="--eviction-hard", type=FieldType.THRESHOLDS),
    CGROUPS_PER_QOS := KubeletField(
        key="cgroupsPerQOS", flag="--cgroups-per-qos", type=FieldType.SWITCH, default="true"
    ),
    FAIL_SWAP_ON := KubeletField(key="failSwapOn", flag="--fail-swap-on", type=FieldType.SWITCH, default="true"),
    RUNTIME_ENDPOINT := KubeletField(key="containerRuntimeEndpoint", flag="--container-runtime-endpoint"),
    MEMORY_RESERVATION_POLICY := KubeletField(key="memoryReservationPolicy", since=(1, 36), later=(((1, 36), "None"),)),
    STATIC_POD_PATH := KubeletField(key="staticPodPath", flag="--pod-manifest-path"),
)
"""All fields whose effective value is reported; the node side reads the same fields from /configz."""

# They only decide the address of kubelet's healthz endpoint.
HEALTHZ_PORT = KubeletField(key="healthzPort", flag="--healthz-port", default="10248")
HEALTHZ_BIND_ADDRESS = KubeletField(key="healthzBindAddress", flag="--healthz-bind-address", default="127.0.0.1")
