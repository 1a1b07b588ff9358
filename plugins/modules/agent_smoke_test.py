#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of agent_smoke_test; the action plugin does the work."""

from __future__ import annotations

DOCUMENTATION = r"""
module: agent_smoke_test
short_description: Run a short-lived offline pod to test the Volcano agent
version_added: 0.1.0
description:
  - Makes one pod for each pool of the play's hosts, on one of its Nodes, of the agent's own image and with the
    annotation C(volcano.sh/qos-level) V(BE), and returns the cgroup values that the agent should
    set for it, as options of M(volcano.colocation.agent_pod_cgroups).
  - The results describe the pods before any change. Call it until all are ready.
  - Works on the facts of the hosts, as M(volcano.colocation.agent_deploy) does.
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
options:
  kubeconfig:
    description:
      - Path of a kubeconfig on the controller. Its user needs to list nodes and DaemonSets, and to list, create and
        delete pods.
    type: path
  namespace:
    description: The namespace of the agent, which the pods are in.
    type: str
    default: volcano-system
  nodes:
    description: Names of the play's hosts, whose results are read.
    type: list
    elements: str
    required: true
  state:
    description: V(absent) deletes every such pod, also those that an earlier run has left.
    type: str
    choices: [present, absent]
    default: present
requirements:
  - the Python library kubernetes on the controller
attributes:
  check_mode:
    support: full
    details: [The API server carries out each request as a dry run.]
  diff_mode:
    support: none
"""

EXAMPLES = r"""
- name: Have a pod in each pool
  volcano.colocation.agent_smoke_test:
    kubeconfig: ~/.kube/config
    nodes: "{{ ansible_play_hosts_all }}"
  delegate_to: localhost
  become: false
  run_once: true
  register: agent_tried
  until: agent_tried.tests | rejectattr('ready') | length == 0
"""

RETURN = r"""
changes:
  description: The pods that were made and deleted.
  returned: success
  type: list
  elements: str
tests:
  description: What is tried.
  returned: success
  type: list
  elements: dict
  contains:
    pool:
      description: The pool.
      type: str
    host:
      description: The host of whose Node it is tried.
      type: str
    node:
      description: That Node.
      type: str
    pod:
      description: Name of the pod.
      type: str
    ready:
      description: Whether there is something to be read.
      type: bool
    reason:
      description: Why there is not.
      type: str
    unverified:
      description: Features of its agent that such a pod cannot show, each with the reason.
      type: list
      elements: dict
    options:
      description: The options for M(volcano.colocation.agent_pod_cgroups) on that host.
      type: dict
"""
