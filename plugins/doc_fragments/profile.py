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
  kubelet_strategy:
    description:
      - Where kubelet's settings are written. V(auto) takes a drop-in where C(--config-dir) is in force, else the file
        of C(--config).
      - What is asked for and not in force on a node is refused; no flag is ever added.
    type: str
    choices: [auto, main-file, drop-in]
    default: auto
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
    type: path
    default: /
"""
