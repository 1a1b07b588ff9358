# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options about the desired state of a node, shared by the modules that compare or apply it."""

from __future__ import annotations


class ModuleDocFragment:
    DEFAULTS = r"""
options:
  profile_defaults:
    description:
      - Names of the profile's options that have their default value because they are not set, such as
        V(cpu_manager_policy) and V(nri.enabled). Reports show them as defaults of the role, and all others as set.
    type: list
    elements: str
    default: []
"""

    JUDGEMENT = r"""
options:
  compare_defaults:
    description:
      - Whether the node is compared with the values of O(profile_defaults) when no other option of the profile is set.
      - With V(false) such a node is only compared with itself, as without any option of the profile.
    type: bool
    default: false
    aliases: [judge_defaults]
"""

    KUBELET = r"""
options:
  kubelet_strategy:
    description:
      - Where kubelet's settings are written. V(auto) uses a drop-in if C(--config-dir) is in effect, else the file of
        C(--config).
      - A strategy that is not in effect on a node is refused; flags are never added.
    type: str
    choices: [auto, main-file, drop-in]
    default: auto
  kubeadm_patches:
    description:
      - The absolute path on the node of the directory that you pass to kubeadm as C(--patches) or C(patches.directory).
      - On a kubeadm node whose main file is written, a patch of kubelet's configuration with the profile's settings is
        written there too, so that C(kubeadm upgrade) keeps them.
      - kubeadm has no default for this directory. If it is not set, no patch is written.
    type: str
"""

    RUNTIME = r"""
options:
  nri:
    description: The Node Resource Interface of containerd or CRI-O.
    type: dict
    suboptions:
      enabled:
        description: Enables or disables NRI. If it is not set, NRI is not changed.
        type: bool
      unsupported:
        description:
          - What to do on nodes without NRI (containerd before 1.7, CRI-O before 1.26), refuse the node or skip NRI.
        type: str
        choices: [refuse, skip]
        default: refuse
      socket_path:
        description: The socket that plugins connect to.
        type: path
      plugin_path:
        description: The directory of plugins that the runtime starts.
        type: path
      plugin_config_path:
        description: The directory of the plugins' configuration.
        type: path
      plugin_registration_timeout:
        description: The time limit for the registration of a plugin, a Go duration such as V(5s).
        type: str
      plugin_request_timeout:
        description: The time limit for a plugin's response, a Go duration such as V(2s).
        type: str
"""

    CONTAINERD = r"""
options:
  containerd_strategy:
    description:
      - Where containerd's settings are written. V(auto) depends on containerd's release, see docs/runtimes.md of this
        collection.
      - V(main-file) is the file that containerd is started with.
      - V(drop-in) is C(/etc/containerd/conf.d/zz-volcano-colocation.toml), imported by the main file. It is refused
        before containerd 2.0, where a drop-in would replace the whole table of a plugin.
      - K3s and RKE2 render the main file at each start. There neither strategy applies, and the settings are
        written to the directory that the rendered file imports, else to the template.
    type: str
    choices: [auto, main-file, drop-in]
    default: auto
"""

    ROOT = r"""
options:
  root:
    description:
      - Resolve all paths below this directory, to prepare or to examine an image. Services are not touched, and mounts
        on C(/proc) and C(/sys) in it are ignored.
      - Symbolic links are resolved inside this directory, as with C(chroot). No other user may change links there
        during the run.
    type: path
    default: /
"""
