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
  - Creates one pod for each pool of the play's hosts, on one of the pool's Nodes. The pod has the agent's image and
    the annotation C(volcano.sh/qos-level) V(BE). The module returns the cgroup values that the agent should set, as
    options of M(volcano.colocation.agent_pod_cgroups).
  - The results describe the pods before the last change. With O(timeout), the module waits until all pods are ready.
  - Uses the facts of the hosts, as M(volcano.colocation.agent_deploy) does.
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
  - volcano.colocation.cluster
  - volcano.colocation.cluster.hosts
options:
  kubeconfig:
    description:
      - Path of a kubeconfig on the controller. Its user must be allowed to list nodes and DaemonSets, and to list,
        create, patch and delete pods.
    type: path
  namespace:
    description: The namespace of the agent and of the pods.
    type: str
    default: volcano-system
  state:
    description:
      - V(present) creates missing pods. V(updated) changes an annotation of the pods, so that their agents handle them
        again. V(absent) deletes all pods of this module, also of earlier runs.
    type: str
    choices: [present, updated, absent]
    default: present
  timeout:
    description: With O(state=present), seconds to wait until all pods are ready. The result has the last state.
    type: int
    default: 0
attributes:
  check_mode:
    support: full
    details: [The API server runs each request as a dry run.]
  diff_mode:
    support: none
"""

EXAMPLES = r"""
- name: Create a pod in each pool
  volcano.colocation.agent_smoke_test:
    kubeconfig: ~/.kube/config
    nodes: "{{ ansible_play_hosts_all }}"
    timeout: 60
  delegate_to: localhost
  become: false
  run_once: true
  register: agent_tried
"""

RETURN = r"""
changes:
  description: The pods that were created and deleted.
  returned: success
  type: list
  elements: str
tests:
  description: The tests, one for each pool.
  returned: success
  type: list
  elements: dict
  contains:
    pool:
      description: Name of the pool.
      type: str
    host:
      description: The inventory name of the Node's host.
      type: str
    node:
      description: Name of the Node.
      type: str
    pod:
      description: Name of the pod.
      type: str
    ready:
      description: Whether the pod is ready, so that its cgroups can be read.
      type: bool
    reason:
      description: Why the pod is not ready, empty if it is.
      type: str
    unverified:
      description: Features of the pool's agent that the pod cannot verify, each with the reason.
      type: list
      elements: dict
    options:
      description: The options for M(volcano.colocation.agent_pod_cgroups) on that host.
      type: dict
"""
