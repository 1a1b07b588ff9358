#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of kubeadm_config, which the action plugin with this name implements."""

from __future__ import annotations

DOCUMENTATION = r"""
module: kubeadm_config
short_description: Set kubelet's fields in kubeadm's kubelet-config
version_added: 0.1.0
description:
  - C(kubeadm upgrade) and C(kubeadm join) create kubelet's file from the ConfigMap C(kubelet-config) in C(kube-system).
    This module sets in the ConfigMap the values that all hosts of a play have in common. All other lines of its text
    stay.
  - It uses the results of M(volcano.colocation.node_align) and M(volcano.colocation.node_restore) that the role
    P(volcano.colocation.node#role) registers. Run it on the controller after the last host.
  - Nothing is written unless the boot ID or the machine ID of each Node proves that the kubeconfig belongs to the
    cluster of these hosts.
  - The previous values are kept in the ConfigMap C(volcano-colocation) in C(kube-system).
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
  - volcano.colocation.cluster
  - volcano.colocation.cluster.hosts
options:
  kubeconfig:
    description: Path of a kubeconfig on the controller. Its user needs the permissions in docs/layouts.md.
    type: path
  edit_configmap:
    description:
      - If it is not set, the ConfigMap is written only if every Node of the cluster is one of O(nodes) and matches the
        profile. Otherwise the result has a finding that lists the other Nodes.
      - V(true) writes it regardless of other Nodes. V(false) never writes it and only reports.
    type: bool
    aliases: [configmap]
  state:
    description:
      - V(present) sets the fields.
      - V(restored) restores the values from before the first change of this collection. If anything else has changed
        them since, this is a conflict and nothing is restored.
    type: str
    choices: [present, restored]
    default: present
attributes:
  check_mode:
    support: full
    details: [The API server handles each request as a dry run, so that missing permissions are reported.]
  diff_mode:
    support: full
"""

EXAMPLES = r"""
- name: Keep the nodes' settings across the next kubeadm upgrade
  volcano.colocation.kubeadm_config:
    kubeconfig: ~/.kube/config
    nodes: "{{ ansible_play_hosts_all }}"
  delegate_to: localhost
  become: false
  run_once: true

- name: Restore kubelet-config after all nodes are restored
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
  description: The name of the ConfigMap that kubeadm reads, with a version suffix before 1.24. Null without one.
  returned: success
  type: str
changes:
  description: The fields that are set or restored.
  returned: success
  type: list
  elements: dict
  contains:
    setting:
      description: The field as a path of keys.
      type: str
    before:
      description: The value before, null if the field was missing.
      type: raw
    after:
      description: The value after.
      type: raw
reasons:
  description: Why nothing is written although values differ, such as a Node that is not a host of the play.
  returned: success
  type: list
  elements: str
findings:
  description: Values that the next kubeadm upgrade would still change, each with evidence and remedy.
  returned: success
  type: list
  elements: dict
"""
