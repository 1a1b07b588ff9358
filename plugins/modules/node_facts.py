#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of node_facts, which the action plugin with this name implements."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_facts
short_description: Gather a node's cgroup, kubelet and container runtime facts
version_added: 0.1.0
description:
  - Reads a node without changing anything and interprets the evidence. The facts show which cgroup version is mounted,
    which cgroup driver kubelet and the container runtime really use and which source sets it, what disagrees and how to
    fix it.
  - Without options of a profile, the node is only compared with itself, now and after a restart.
  - With options of a profile, differences from the profile are findings too.
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
  - volcano.colocation.attributes.action_group
  - volcano.colocation.profile.defaults
  - volcano.colocation.profile.judgement
  - volcano.colocation.kubelet_fields.driver
  - volcano.colocation.kubelet_fields
  - volcano.colocation.profile.kubelet
  - volcano.colocation.profile.runtime
  - volcano.colocation.profile.containerd
  - volcano.colocation.profile.root
  - volcano.colocation.targets
options:
  snapshot:
    description: Interpret the snapshot in this file on the controller instead of reading the node.
    type: path
  snapshot_directory:
    description:
      - Save the snapshot in this directory on the controller as C(NAME.snapshot.json), readable only by its owner and
        with possible secrets redacted. A missing directory is created.
    type: path
    aliases: [snapshot_folder]
  return_snapshot:
    description: Whether to return the snapshot too, with possible secrets redacted.
    type: bool
    default: false
attributes:
  check_mode:
    support: full
    details: [The module never changes anything.]
  diff_mode:
    support: none
"""

EXAMPLES = r"""
- name: Gather the facts of the node
  volcano.colocation.node_facts:

- name: Stop unless both sides use the same driver
  ansible.builtin.assert:
    that: colocation.verdict == 'aligned'
    fail_msg: "{{ colocation.findings | map(attribute='summary') | join(' ') }}"

- name: Report what would stop working with the next release
  volcano.colocation.node_facts:
    target_kubernetes: "1.36"

- name: Examine a snapshot from another system
  volcano.colocation.node_facts:
    snapshot: ./node7.json
  delegate_to: localhost
"""

RETURN = r"""
ansible_facts:
  description: Facts to be added to the host.
  returned: success
  type: dict
  contains:
    colocation:
      description: The facts document.
      type: dict
      contains:
        schema:
          description: Version of this document.
          type: int
        verdict:
          description:
            - V(aligned), V(misaligned), V(latent), V(unsupported) or V(unknown).
            - V(latent) means that the running components agree, but the next restart would break that.
          type: str
        profile:
          description:
            - The profile that the node was compared with. C(specified) is V(false) without one.
            - Each of C(options) has C(option), C(value) and C(source), V(set) or V(role-default). Ansible does not pass
              on where a variable was set.
          type: dict
        cgroup:
          description: Mode (V(v1), V(v2), V(hybrid), V(unknown)) with its reason, controllers, mount points.
          type: dict
        kubelet:
          description:
            - Whether kubelet is installed and running, version, driver and CPU manager policy with their sources, and
              what determines the driver (V(flag), V(config), V(default) or V(cri)).
            - The effective values of all relevant fields, the value in each source, and the checkpoints.
          type: dict
        runtime:
          description: The container runtime, its version, file schema, configured and running handlers, NRI.
          type: dict
        pods:
          description: Running pods and containers, and the form of their cgroup paths.
          type: dict
        systemd:
          description: PID 1 and the version of systemd.
          type: dict
        kernel:
          description: The kernel's release.
          type: dict
        cpu:
          description: The online CPUs as a CPU list.
          type: dict
        findings:
          description: Current and future problems with code, severity, effect, summary, evidence, remedy and link.
          type: list
          elements: dict
path:
  description: The file of the saved snapshot.
  returned: when O(snapshot_directory) is set
  type: str
snapshot:
  description: The redacted snapshot. It can be replayed with O(snapshot).
  returned: O(return_snapshot=true)
  type: dict
"""
