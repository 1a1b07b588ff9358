#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of agent_verify; the action plugin does the work."""

from __future__ import annotations

DOCUMENTATION = r"""
module: agent_verify
short_description: Tell whether the Volcano agent works on its Nodes
version_added: 0.1.0
description:
  - Holds what the API server has against what facts say of each host, that a pod of its DaemonSet's present
    template is there and Ready, that the cgroup in which this pod looks for others is the one they are in, and that the
    Node reports C(kubernetes.io/batch-cpu).
  - Works on the facts of the hosts, as M(volcano.colocation.agent_deploy) does. It never changes
    anything, and does not fail for what is not verified; RV(verified) and RV(problems) tell.
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
options:
  kubeconfig:
    description: Path of a kubeconfig on the controller. Its user needs to list nodes, DaemonSets and pods.
    type: path
  namespace:
    description: The namespace of the agent.
    type: str
    default: volcano-system
  nodes:
    description: Names of the play's hosts, whose results are read.
    type: list
    elements: str
    required: true
  oversubscribed:
    description:
      - Whether C(kubernetes.io/batch-cpu) is expected. With V(false) it is reported, and no problem if missing.
    type: bool
    default: true
requirements:
  - the Python library kubernetes on the controller
attributes:
  check_mode:
    support: full
    details: [It never changes anything.]
  diff_mode:
    support: none
"""

EXAMPLES = r"""
- name: Look whether the agent works
  volcano.colocation.agent_verify:
    kubeconfig: ~/.kube/config
    nodes: "{{ ansible_play_hosts_all }}"
  delegate_to: localhost
  become: false
  run_once: true
  register: agent_verified
"""

RETURN = r"""
verified:
  description: Whether no problem was found.
  returned: success
  type: bool
problems:
  description: Each Node that has one, with all reasons.
  returned: success
  type: list
  elements: str
nodes:
  description: What is true of each Node of the play's hosts.
  returned: success
  type: list
  elements: dict
  contains:
    node:
      description: Its name.
      type: str
    pool:
      description: Its pool.
      type: str
    agent_reason:
      description: Why no agent works there, empty where one does.
      type: str
    cgroup:
      description: Where the agent looks for pods, below the top of a hierarchy.
      type: str
    cgroup_reason:
      description: Why that is not where they are, empty where it is.
      type: str
    batch_cpu:
      description: The Node's C(kubernetes.io/batch-cpu), in thousandths of a CPU, empty where it has none.
      type: str
    batch_cpu_reason:
      description: Why it has none.
      type: str
    verified:
      description: Whether all is as it should be.
      type: bool
"""
