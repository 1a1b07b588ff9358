# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options that describe a node's desired state, shared by the modules that read or reach it."""

from __future__ import annotations


class ModuleDocFragment:
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
  compare_defaults:
    description:
      - Whether the node is compared with the values of O(profile_defaults) when no other option of the profile is set.
      - With V(false) such a node is compared with itself only, as without any option of the profile.
    type: bool
    default: false
    aliases: [judge_defaults]
"""

    KUBELET = r"""
options:
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
      - The directory, an absolute path on the node, that kubeadm is given there as C(--patches) or C(patches.directory).
      - A node of kubeadm whose main file is written then gets a patch of kubelet's configuration in it with what the
        profile sets, so that C(kubeadm upgrade) keeps it.
      - kubeadm has no such directory of its own accord. Not set, none is written.
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
        description: The directory of plugins that the runtime starts itself.
        type: path
      plugin_config_path:
        description: The directory of their configuration.
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
      - K3s and RKE2 render the main file at each start. There neither is chosen; it is the directory that the rendered
        file imports, else the template.
    type: str
    choices: [auto, main-file, drop-in]
    default: auto
"""

    ROOT = r"""
options:
  root:
    description:
      - Take every path below this directory, to prepare or to examine an image. Services are then left alone, and what is
        mounted on C(/proc) and C(/sys) there is of no account.
      - Symbolic links are resolved inside this directory, as C(chroot) does it. No other user may change links there
        during the run.
    type: path
    default: /
"""
