# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options that set kubelet's fields, written by `make docs` from profile/kubelet_fields."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  cgroup_root:
    description:
      - Sets C(cgroupRoot), the cgroup in which kubelet creates its tree, such as V(/pods). It must exist.
      - It is a path under both drivers. Under V(systemd) the path V(/a/b) means C(a-b.slice).
      - The value is the path of a cgroup. A change needs a restart of kubelet. Pods are stopped for it.
      - If unset, the field does not change.
    type: str
  cpu_manager_policy:
    description:
      - Sets C(cpuManagerPolicy). V(static) needs reserved CPUs, by the profile or on the node.
      - kubelet's default is V(none). A change needs a restart of kubelet. Pods are stopped for it.
      - If unset, the field does not change.
    type: str
    choices: [none, static]
  cpu_manager_policy_options:
    description:
      - Sets entries of C(cpuManagerPolicyOptions), such as C(full-pcpus-only=true).
      - Requires Kubernetes 1.22 or newer. The value is a switch or a number by option. A change needs a restart of
        kubelet. Pods are stopped for it where the CPU manager's policy is V(static).
      - Entries that are not listed do not change.
    type: dict
  topology_manager_policy:
    description:
      - Sets C(topologyManagerPolicy).
      - kubelet's default is V(none). A change needs a restart of kubelet.
      - If unset, the field does not change.
    type: str
    choices: [none, best-effort, restricted, single-numa-node]
  topology_manager_scope:
    description:
      - Sets C(topologyManagerScope), whether each container or the whole pod is aligned.
      - kubelet's default is V(container). A change needs a restart of kubelet.
      - If unset, the field does not change.
    type: str
    choices: [container, pod]
  topology_manager_policy_options:
    description:
      - Sets entries of C(topologyManagerPolicyOptions), such as C(prefer-closest-numa-nodes=true).
      - Requires Kubernetes 1.26 or newer. The value is a switch or a number by option. A change needs a restart of
        kubelet.
      - Entries that are not listed do not change.
    type: dict
  memory_manager_policy:
    description:
      - Sets C(memoryManagerPolicy), with a capital letter. V(Static) needs O(reserved_memory).
      - Requires Kubernetes 1.21 or newer. kubelet's default is V(None). A change needs a restart of kubelet. Pods are
        stopped for it.
      - If unset, the field does not change.
    type: str
    choices: [None, Static]
  reserved_memory:
    description:
      - Sets C(reservedMemory). Each entry of the list has C(numaNode) and C(limits).
      - V(auto) computes what kubelet requires, the memory of C(systemReserved), C(kubeReserved) and C(evictionHard), in
        equal shares on the NUMA nodes that have CPUs.
      - Requires Kubernetes 1.21 or newer. The value is V(auto) or the whole list. A change needs a restart of kubelet.
        Pods are stopped for it where the memory manager's policy is V(Static).
      - If unset or empty, the field does not change.
    type: raw
  reserved_system_cpus:
    description:
      - Sets C(reservedSystemCPUs). It takes the place of both CPU reservations.
      - The value is a Linux CPU list such as V(0-1). A change needs a restart of kubelet. Pods are stopped for it where
        the CPU manager's policy is V(static).
      - If unset, the field does not change.
    type: str
  system_reserved_cgroup:
    description:
      - Sets C(systemReservedCgroup), such as V(/system.slice). The cgroup must exist. Under the V(systemd) driver it
        must be a slice.
      - The value is the path of a cgroup. A change needs a restart of kubelet.
      - If unset, the field does not change.
    type: str
  kube_reserved_cgroup:
    description:
      - Sets C(kubeReservedCgroup), such as V(/runtime.slice). The cgroup must exist. Under the V(systemd) driver it
        must be a slice.
      - The value is the path of a cgroup. A change needs a restart of kubelet.
      - If unset, the field does not change.
    type: str
  enforce_node_allocatable:
    description:
      - Sets C(enforceNodeAllocatable), the whole list. V(none) enforces nothing and must stand alone.
      - V(system-reserved) needs O(system_reserved_cgroup), V(kube-reserved) needs O(kube_reserved_cgroup). The cgroup
        must exist in every controller before kubelet starts.
      - The forms with C(-compressible) enforce CPU only. They require Kubernetes 1.32 or newer.
      - A change needs a restart of kubelet.
      - If unset or empty, the field does not change.
    type: list
    elements: str
    choices: [none, pods, system-reserved, kube-reserved, system-reserved-compressible, kube-reserved-compressible]
  memory_throttling_factor:
    description:
      - Sets C(memoryThrottlingFactor). It has an effect only where the gate C(MemoryQoS) is on.
      - Requires Kubernetes 1.22 or newer. The value is a fraction, more than 0 and at most 1. kubelet's default is
        V(0.8), from 1.27 on V(0.9), from 1.37 on none. A change needs a restart of kubelet.
      - If unset, the field does not change.
    type: float
  fail_cgroup_v1:
    description:
      - Sets C(failCgroupV1). V(false) lets kubelet 1.35 and newer start on cgroup v1.
      - Requires Kubernetes 1.31 or newer. kubelet's default is V(false), from 1.35 on V(true). A change needs a restart
        of kubelet.
      - If unset, the field does not change.
    type: bool
  single_process_oom_kill:
    description:
      - Sets C(singleProcessOOMKill). With V(true) the kernel kills one process of a container instead of all. V(false)
        is refused on cgroup v1.
      - Requires Kubernetes 1.32 or newer. A change needs a restart of kubelet.
      - If unset, the field does not change.
    type: bool
  pod_pids_limit:
    description:
      - Sets C(podPidsLimit), the limit of a pod. V(-1) sets none. Running pods keep what they have.
      - The value is a number of processes. kubelet's default is V(-1). A change needs a restart of kubelet.
      - If unset, the field does not change.
    type: int
  read_only_port:
    description:
      - Sets C(readOnlyPort). V(0) closes it. Any other port answers everyone who reaches the node, without
        authentication.
      - The value is a TCP port. kubelet's default is V(0). A change needs a restart of kubelet.
      - If unset, the field does not change.
    type: int
  feature_gates:
    description:
      - Sets entries of C(featureGates), such as C(MemoryQoS=true). kubelet does not start with a gate that it does not
        know.
      - The value is V(true) or V(false) by gate. A change needs a restart of kubelet. Pods are stopped for a change of
        C(KubeletCgroupDriverFromCRI).
      - Entries that are not listed do not change.
    type: dict
  system_reserved:
    description:
      - Sets entries of C(systemReserved), such as C(cpu=500m).
      - The value is a Kubernetes quantity by resource. A change needs a restart of kubelet. Pods are stopped for a
        change of C(cpu) where the CPU manager's policy is V(static). Pods are stopped for a change of C(memory) where
        the memory manager's policy is V(Static).
      - Entries that are not listed do not change.
    type: dict
  kube_reserved:
    description:
      - Sets entries of C(kubeReserved), such as C(memory=1Gi).
      - The value is a Kubernetes quantity by resource. A change needs a restart of kubelet. Pods are stopped for a
        change of C(cpu) where the CPU manager's policy is V(static). Pods are stopped for a change of C(memory) where
        the memory manager's policy is V(Static).
      - Entries that are not listed do not change.
    type: dict
"""

    DRIVER = r"""
options:
  cgroup_driver:
    description:
      - Sets the cgroup driver of both sides, which are kubelet's C(cgroupDriver), and C(SystemdCgroup) of every
        containerd handler of runc type or CRI-O's C(cgroup_manager).
      - kubelet's default is V(cgroupfs). A change needs a restart of kubelet. Pods are stopped for it.
      - If unset, the field does not change.
    type: str
    choices: [systemd, cgroupfs]
"""
