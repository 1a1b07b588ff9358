#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of kubeadm_config; the action plugin does the work."""

from __future__ import annotations

DOCUMENTATION = r"""
module: kubeadm_config
short_description: Set kubelet's fields in the cluster's kubelet-config, which kubeadm gives every node
version_added: 0.1.0
description:
  - C(kubeadm upgrade) and C(kubeadm join) make kubelet's file of the ConfigMap C(kubelet-config) in C(kube-system).
    This module sets in it what all hosts of a play want alike, once for all of them. Every other line of its
    text stays.
  - It works on what M(volcano.colocation.node_align) and M(volcano.colocation.node_restore) found on the hosts, as
    the role P(volcano.colocation.node#role) registers it, and is meant to run after the last of them, on the
    controller.
  - Nothing is written unless the kubeconfig is proven to lead to the cluster of these hosts, by the boot id or the
    machine id of each Node.
  - What was there before is kept in the ConfigMap C(volcano-colocation) in C(kube-system).
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
options:
  kubeconfig:
    description: Path of a kubeconfig on the controller. Its user needs the verbs that docs/kubeadm.md lists.
    type: path
  edit_configmap:
    description:
      - Not set, the ConfigMap is written only if every Node of the cluster is one of O(nodes) and is as the profile
        wants. Otherwise the result has a finding that names the Nodes that are not.
      - V(true) writes it whatever other nodes have, V(false) never does, and only tells.
    type: bool
    aliases: [configmap]
  state:
    description:
      - V(present) sets the fields.
      - V(restored) puts back what was there before this collection first touched it. What somebody else has changed
        since is a conflict, and nothing is put back then.
    type: str
    choices: [present, restored]
    default: present
  nodes:
    description: Names of the play's hosts, whose results are read.
    type: list
    elements: str
    required: true
requirements:
  - the Python library kubernetes on the controller
attributes:
  check_mode:
    support: full
    details: [The API server carries out each request as a dry run, so that a missing permission shows.]
  diff_mode:
    support: full
"""

EXAMPLES = r"""
- name: Keep what the nodes have over the next kubeadm upgrade
  volcano.colocation.kubeadm_config:
    kubeconfig: ~/.kube/config
    nodes: "{{ ansible_play_hosts_all }}"
  delegate_to: localhost
  become: false
  run_once: true

- name: Put kubelet-config back once all nodes are
  volcano.colocation.kubeadm_config:
    kubeconfig: ~/.kube/config
    nodes: "{{ ansible_play_hosts_all }}"
    state: restored
  delegate_to: localhost
  become: false
  run_once: true
"""

RETURN = r"""
configmap:
  description: The name of the ConfigMap that kubeadm reads, with a version before 1.24; null where there is none.
  returned: success
  type: str
changes:
  description: The fields that are set or put back.
  returned: success
  type: list
  elements: dict
  contains:
    setting:
      description: The field, by its path of keys.
      type: str
    before:
      description: Its value before, null where it was not there.
      type: raw
    after:
      description: Its value now.
      type: raw
reasons:
  description: Why nothing is written although something differs, such as a Node that is no host of the play.
  returned: success
  type: list
  elements: str
findings:
  description: What the next kubeadm upgrade would bring all the same, each with its evidence and remedy.
  returned: success
  type: list
  elements: dict
"""
