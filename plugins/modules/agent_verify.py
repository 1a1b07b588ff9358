#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of agent_verify; the action plugin does the work."""

from __future__ import annotations

DOCUMENTATION = r"""
module: agent_verify
short_description: Verify that the Volcano agent works on its Nodes
version_added: 0.1.0
description:
  - Compares objects of the API server with the facts of each host. It verifies that the Node has a Ready pod of its
    DaemonSet's current template, that the cgroup in which this pod expects other pods is the one on the node, that the
    Node reports C(kubernetes.io/batch-cpu), and that its amounts depend on the memory that its pods use.
  - Uses the facts of the hosts, as M(volcano.colocation.agent_deploy) does. It never changes anything, and does not
    fail if something is not verified; see RV(verified) and RV(problems).
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
  - volcano.colocation.cluster
  - volcano.colocation.cluster.hosts
options:
  kubeconfig:
    description: Path of a kubeconfig on the controller. Its user must be allowed to list nodes, DaemonSets and pods.
    type: path
  namespace:
    description: The namespace of the agent.
    type: str
    default: volcano-system
  state:
    description:
      - V(present) verifies that the agent works. V(absent) verifies that no agent that works still offers resources,
        after the labels of its Node were removed.
    type: str
    choices: [present, absent]
    default: present
  timeout:
    description:
      - Seconds to wait until everything is verified. The result has the last state. While the API server does not
        answer, it is asked again.
    type: int
    default: 0
  oversubscribed:
    description:
      - Whether C(kubernetes.io/batch-cpu) is expected. With V(false), it is reported, but may be missing.
    type: bool
    default: true
attributes:
  check_mode:
    support: full
    details: [It never changes anything.]
  diff_mode:
    support: none
"""

EXAMPLES = r"""
- name: Verify that the agent works
  volcano.colocation.agent_verify:
    kubeconfig: ~/.kube/config
    nodes: "{{ ansible_play_hosts_all }}"
    timeout: 120
  delegate_to: localhost
  become: false
  run_once: true
  register: agent_verified
"""

RETURN = r"""
verified:
  description: Whether there are no problems.
  returned: success
  type: bool
problems:
  description: The Nodes with problems, each with all reasons.
  returned: success
  type: list
  elements: str
nodes:
  description: The state of each Node of the play's hosts.
  returned: success
  type: list
  elements: dict
  contains:
    host:
      description: Name of the host.
      type: str
    node:
      description: Name of the Node.
      type: str
    pool:
      description: Name of its pool.
      type: str
    agent_reason:
      description: Why the agent does not work on the Node, empty if it does.
      type: str
    cgroup:
      description: The cgroup in which the agent expects pods, below the root of a hierarchy.
      type: str
    cgroup_reason:
      description: Why that cgroup is wrong, empty if it is right.
      type: str
    batch_cpu:
      description: The Node's C(kubernetes.io/batch-cpu), in thousandths of a CPU, empty if it has none.
      type: str
    batch_cpu_reason:
      description: Why C(kubernetes.io/batch-cpu) is missing, empty if it is not, or not expected.
      type: str
    usage_reason:
      description:
        - Why the Node's amounts cannot depend on what its pods use, empty if they can. An agent that reads no cgroup
          counts a usage of 0, publishes everything, and is Ready.
      type: str
    process:
      description: Options of M(volcano.colocation.agent_process_info) for the agent's process, if there is no problem.
      type: dict
    verified:
      description: Whether the Node has no problem.
      type: bool
"""
