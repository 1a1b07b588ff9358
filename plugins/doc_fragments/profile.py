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

    KUBELET = r"""
options:
  cpu_manager_policy:
    description:
      - kubelet's C(cpuManagerPolicy). V(static) needs CPUs reserved, by this call or by what the node has already.
      - Left as found when not set.
    type: str
    choices: [none, static]
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
  topology_manager_policy:
    description:
      - kubelet's C(topologyManagerPolicy).
      - Left as found when not set.
    type: str
    choices: [none, best-effort, restricted, single-numa-node]
  read_only_port:
    description:
      - kubelet's C(readOnlyPort). V(0) closes it. Any other port answers everyone who reaches the node, without
        authentication.
      - Left as found when not set.
    type: int
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

    ROOT = r"""
options:
  root:
    description:
      - Take every path, C(/proc) and C(/sys) included, below this folder, to prepare an image or to examine a recorded
        tree. Services are then left alone.
    type: path
    default: /
"""
