# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options that describe a node's desired state, shared by the modules that read or reach it."""

from __future__ import annotations


class ModuleDocFragment:
    DRIVER = r"""
options:
  cgroup_driver:
    description:
      - The cgroup driver of both sides, kubelet's C(cgroupDriver) and C(SystemdCgroup) of every containerd handler of
        runc type or CRI-O's C(cgroup_manager).
      - Left as found when not set.
    type: str
    choices: [systemd, cgroupfs]
"""

    DEFAULTS = r"""
options:
  profile_defaults:
    description:
      - Names of options of the profile that are not set and have a default, such as V(cpu_manager_policy) and
        V(nri.enabled). Reports call them defaults of the role; all others are called set.
    type: list
    elements: str
    default: []
"""

    JUDGEMENT = r"""
options:
  judge_defaults:
    description:
      - Whether the node is judged against the values of O(profile_defaults) when no other option of the profile is set.
      - With V(false) such a node is compared with itself only, as without any option of the profile.
    type: bool
    default: false
"""

    KUBELET = r"""
options:
  cgroup_root:
    description:
      - kubelet's C(cgroupRoot), the cgroup that its tree is made in, such as V(/pods). The cgroup has to exist.
      - Written as a path under both drivers; under V(systemd) the path V(/a/b) means C(a-b.slice).
      - Left as found when not set.
    type: str
  cpu_manager_policy:
    description:
      - kubelet's C(cpuManagerPolicy). V(static) needs CPUs reserved, by this call or by what the node has already.
      - Left as found when not set.
    type: str
    choices: [none, static]
  cpu_manager_policy_options:
    description:
      - Entries of kubelet's C(cpuManagerPolicyOptions), such as C(full-pcpus-only=true). Kubernetes 1.22 and newer.
      - Entries that are not named stay as found.
    type: dict
  system_reserved:
    description:
      - Entries of kubelet's C(systemReserved), Kubernetes quantities by resource, such as C(cpu=500m).
      - Entries that are not named stay as found.
    type: dict
  kube_reserved:
    description:
      - Entries of kubelet's C(kubeReserved), Kubernetes quantities by resource.
      - Entries that are not named stay as found.
    type: dict
  reserved_system_cpus:
    description:
      - kubelet's C(reservedSystemCPUs), a Linux CPU list such as V(0-1). It takes the place of both CPU reservations.
      - Left as found when not set.
    type: str
  enforce_node_allocatable:
    description:
      - kubelet's C(enforceNodeAllocatable), the whole list. V(none) stands alone.
      - V(system-reserved) needs O(system_reserved_cgroup), V(kube-reserved) needs O(kube_reserved_cgroup), and the
        cgroup has to exist in every controller before kubelet is told.
      - The forms with C(-compressible) enforce CPU only. Kubernetes 1.32 and newer.
      - Left as found when not set or empty.
    type: list
    elements: str
    choices: [none, pods, system-reserved, kube-reserved, system-reserved-compressible, kube-reserved-compressible]
  system_reserved_cgroup:
    description:
      - kubelet's C(systemReservedCgroup), such as V(/system.slice). Under the V(systemd) driver it has to be a slice.
      - Left as found when not set.
    type: str
  kube_reserved_cgroup:
    description:
      - kubelet's C(kubeReservedCgroup), such as V(/runtime.slice). Under the V(systemd) driver it has to be a slice.
      - Left as found when not set.
    type: str
  topology_manager_policy:
    description:
      - kubelet's C(topologyManagerPolicy).
      - Left as found when not set.
    type: str
    choices: [none, best-effort, restricted, single-numa-node]
  topology_manager_scope:
    description:
      - kubelet's C(topologyManagerScope).
      - Left as found when not set.
    type: str
    choices: [container, pod]
  topology_manager_policy_options:
    description:
      - Entries of kubelet's C(topologyManagerPolicyOptions), such as C(prefer-closest-numa-nodes=true). Kubernetes 1.26
        and newer.
      - Entries that are not named stay as found.
    type: dict
  memory_manager_policy:
    description:
      - kubelet's C(memoryManagerPolicy), with a capital letter. V(Static) needs O(reserved_memory). Kubernetes 1.21 and
        newer.
      - Left as found when not set.
    type: str
    choices: [None, Static]
  reserved_memory:
    description:
      - kubelet's C(reservedMemory), the whole list, as kubelet has it, C(numaNode) and C(limits) an entry.
      - V(auto) reserves what kubelet wants to see, C(systemReserved) and C(kubeReserved) and C(evictionHard) of memory,
        in equal shares on the NUMA nodes that have CPUs.
      - Left as found when not set or empty.
    type: raw
  memory_throttling_factor:
    description:
      - kubelet's C(memoryThrottlingFactor), more than 0 and at most 1. It counts where the gate C(MemoryQoS) is on.
        Kubernetes 1.22 and newer.
      - Left as found when not set.
    type: float
  fail_cgroup_v1:
    description:
      - kubelet's C(failCgroupV1). V(false) lets kubelet 1.35 and newer start on cgroup v1. Kubernetes 1.31 and newer.
      - Left as found when not set.
    type: bool
  single_process_oom_kill:
    description:
      - kubelet's C(singleProcessOOMKill). V(true) has the kernel kill one process of a container instead of all.
        V(false) is refused on cgroup v1. Kubernetes 1.32 and newer.
      - Left as found when not set.
    type: bool
  pod_pids_limit:
    description:
      - kubelet's C(podPidsLimit), the most processes of a pod. V(-1) sets no limit. Pods that run keep what they have.
      - Left as found when not set.
    type: int
  read_only_port:
    description:
      - kubelet's C(readOnlyPort). V(0) closes it. Any other port answers everyone who reaches the node, without
        authentication.
      - Left as found when not set.
    type: int
  feature_gates:
    description:
      - Entries of kubelet's C(featureGates), true or false by name. kubelet does not start with a gate that it does not
        know.
      - Entries that are not named stay as found.
    type: dict
  kubelet_strategy:
    description:
      - Where kubelet's settings are written. V(auto) takes a drop-in where C(--config-dir) is in force, else the file
        of C(--config).
      - What is asked for and not in force on a node is refused; no flag is ever added.
    type: str
    choices: [auto, main-file, drop-in]
    default: auto
  kubeadm_patches:
    description:
      - The folder, an absolute path on the node, that kubeadm is given there as C(--patches) or C(patches.directory).
      - A node of kubeadm whose main file is written then gets a patch of kubelet's configuration in it with what the
        profile sets, so that C(kubeadm upgrade) keeps it.
      - kubeadm has no such folder of its own accord. Not set, none is written.
    type: str
"""

    RUNTIME = r"""
options:
  nri:
    description: The Node Resource Interface of containerd or CRI-O.
    type: dict
    suboptions:
      enabled:
        description: Switch it on or off. Left as found when not set.
        type: bool
      unsupported:
        description:
          - What to do without NRI (containerd before 1.7, CRI-O before 1.26), refuse the node or leave NRI out.
        type: str
        choices: [refuse, skip]
        default: refuse
      socket_path:
        description: Where plugins connect.
        type: path
      plugin_path:
        description: The folder of plugins that the runtime starts itself.
        type: path
      plugin_config_path:
        description: The folder of their configuration.
        type: path
      plugin_registration_timeout:
        description: How long a plugin may take to register, a Go duration such as V(5s).
        type: str
      plugin_request_timeout:
        description: How long a plugin may take to answer, a Go duration such as V(2s).
        type: str
"""

    CONTAINERD = r"""
options:
  containerd_strategy:
    description:
      - Where containerd's settings are written. V(auto) goes by containerd's release, as docs/containerd.md of this
        collection explains.
      - V(main-file) is the file that containerd is started with.
      - V(drop-in) is C(/etc/containerd/conf.d/zz-volcano-colocation.toml), imported by the main file. It is refused
        before containerd 2.0, where a drop-in would replace the whole table of a plugin.
      - K3s and RKE2 render the main file at each start. There neither is chosen; it is the folder that the rendered
        file imports, else the template.
    type: str
    choices: [auto, main-file, drop-in]
    default: auto
"""

    ROOT = r"""
options:
  root:
    description:
      - Take every path below this folder, to prepare or to examine an image. Services are then left alone, and what is
        mounted on C(/proc) and C(/sys) there is of no account.
      - Symbolic links are resolved inside this folder, as C(chroot) does it. No other user may change links there
        during the run.
    type: path
    default: /
"""
