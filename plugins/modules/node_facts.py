#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of node_facts; its work is done by the action plugin of the same name."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_facts
short_description: Tell which cgroups, kubelet and containerd a node really uses
version_added: 0.1.0
description:
  - Reads a node without changing anything and interprets what it finds, which cgroup version is mounted, which cgroup
    driver kubelet and containerd really use and which source says so, what disagrees and what to do about it.
  - Without options of a profile it judges whether the node agrees with itself, now and after a restart.
  - With them, what differs from the profile counts as a finding too.
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
    description: Replay the snapshot in this file on the controller, and do not look at the node.
    type: path
  snapshot_directory:
    description:
      - Keep the evidence in this directory on the controller as C(NAME.snapshot.json), with what looks secret redacted,
        for its owner alone. The directory is made if it is missing.
    type: path
    aliases: [snapshot_folder]
  return_snapshot:
    description: Return the evidence too, with what looks secret redacted.
    type: bool
    default: false
attributes:
  check_mode:
    support: full
    details: [It never changes anything.]
  diff_mode:
    support: none
"""

EXAMPLES = r"""
- name: Know the node
  volcano.colocation.node_facts:

- name: Stop unless both sides use the same driver
  ansible.builtin.assert:
    that: colocation.verdict == 'aligned'
    fail_msg: "{{ colocation.findings | map(attribute='summary') | join(' ') }}"

- name: Tell what would stop working with the next release
  volcano.colocation.node_facts:
    target_kubernetes: "1.36"

- name: Examine what somebody sent
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
      description: What is true of the node.
      type: dict
      contains:
        schema:
          description: Version of this document.
          type: int
        verdict:
          description:
            - V(aligned), V(misaligned), V(latent), V(unsupported) or V(unknown).
            - V(latent) means that what runs agrees, and the next restart would break it.
          type: str
        profile:
          description:
            - What the node was compared with. C(specified) is V(false) if no profile was given.
            - Each of C(options) has C(option), C(value) and C(source), V(set) or V(role-default). Where a variable was
              set is not known, because Ansible hands over its value only.
          type: dict
        cgroup:
          description: Mode (V(v1), V(v2), V(hybrid), V(unknown)) with its reason, controllers, mount points.
          type: dict
        kubelet:
          description:
            - Whether it is installed and runs, version, driver and CPU manager policy with their sources, and who
              decides the driver (V(flag), V(config), V(default) or V(cri)).
            - Every field that matters as it is in force, what each source claims, and the checkpoints.
          type: dict
        runtime:
          description: containerd, its version, file schema, handlers as configured and as running, NRI.
          type: dict
        pods:
          description: Pods and containers that run, and the shape of their cgroup paths.
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
          description: What is wrong or will be, each with code, severity, effect, summary, evidence,
            remedy and link.
          type: list
          elements: dict
path:
  description: The file that the evidence was kept in.
  returned: when O(snapshot_directory) is set
  type: str
snapshot:
  description: The evidence, redacted. It can be replayed with O(snapshot).
  returned: O(return_snapshot=true)
  type: dict
"""
