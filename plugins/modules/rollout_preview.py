#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of rollout_preview; its work is done by the action plugin of the same name."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rollout_preview
short_description: Preview draining the nodes of a play (internal)
version_added: 0.1.0
description:
  - Looks at the Node of every host, and at the pods of those whose plan needs a drain. Prints the batches of the
    rollout with what becomes of each node.
  - Refuses a kubeconfig of another cluster, and a user who may not do what a drain takes.
  - Works on what the role C(node) has registered of the hosts, and never changes anything. Internal to the playbook
    C(provision).
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
  - volcano.colocation.rollout
options:
  nodes:
    description: Names of the play's hosts.
    type: list
    elements: str
    required: true
  batches:
    description: How many nodes are changed together, as Ansible's C(serial) has it, such as V(1) and V(10%).
    type: list
    elements: str
    default: ["1"]
attributes:
  check_mode:
    support: full
    details: [It never changes anything.]
  diff_mode:
    support: none
"""

EXAMPLES = r"""
- name: Look at what draining the nodes would come to
  volcano.colocation.rollout_preview:
    kubeconfig: ~/.kube/config
    nodes: "{{ ansible_play_hosts_all }}"
    batches: [1, "10%", "25%"]
  delegate_to: localhost
  become: false
  run_once: true
"""

RETURN = r"""
abandoned_cordons:
  description: Hosts whose Nodes are still cordoned by a rollout that was cut off, save where a change was.
  returned: success
  type: list
  elements: str
to_drain:
  description: Hosts whose pods have to leave, because their change needs it, or because one was cut off there.
  returned: success
  type: list
  elements: str
nodes:
  description: Every host that is to be changed.
  returned: success
  type: list
  elements: dict
  contains:
    host:
      description: Its name.
      type: str
    node:
      description: The name of its Node.
      type: str
    drain_required:
      description: Whether pods have to leave.
      type: bool
    ready:
      description: Whether its Node is Ready.
      type: bool
    drained:
      description: Whether it can be drained.
      type: bool
    reason:
      description: Why it cannot.
      type: str
    cordoned:
      description: Whether it would be cordoned by the rollout.
      type: bool
    evicted:
      description: The pods that would be evicted.
      type: list
      elements: str
    pods:
      description: All pods of the Node, empty where no drain is needed.
      type: list
      elements: dict
"""
