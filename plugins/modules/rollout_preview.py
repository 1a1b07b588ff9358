#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of rollout_preview, which the action plugin with this name implements."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rollout_preview
short_description: Preview draining the nodes of a play (internal)
version_added: 0.1.0
description:
  - Reads the Nodes of all hosts, and the pods of those whose plan needs a drain. Prints the batches of the rollout with
    the outcome for each node.
  - Refuses a kubeconfig of another cluster, or of a user without the permissions for a drain.
  - Uses the variables that the role C(node) has registered for the hosts, and never changes anything. Internal to the
    playbook C(provision).
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
  - volcano.colocation.cluster
  - volcano.colocation.report.details
  - volcano.colocation.rollout
options:
  nodes:
    description: Names of the play's hosts.
    type: list
    elements: str
    required: true
  batches:
    description: The number of nodes that are changed together, as for Ansible's C(serial), such as V(1) and V(10%).
    type: list
    elements: str
    default: ["1"]
attributes:
  check_mode:
    support: full
    details: [The module never changes anything.]
  diff_mode:
    support: none
"""

EXAMPLES = r"""
- name: Preview draining the nodes
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
  description: Hosts whose Nodes are still cordoned by an interrupted rollout, except where a change was interrupted.
  returned: success
  type: list
  elements: str
to_drain:
  description: Hosts that must be drained for their change, or because a change was interrupted there.
  returned: success
  type: list
  elements: str
nodes:
  description: The hosts that will be changed.
  returned: success
  type: list
  elements: dict
  contains:
    host:
      description: The host's name.
      type: str
    node:
      description: The name of the host's Node.
      type: str
    drain_required:
      description: Whether the Node must be drained.
      type: bool
    ready:
      description: Whether the Node is Ready.
      type: bool
    drained:
      description: Whether the Node can be drained.
      type: bool
    reason:
      description: Why it cannot be drained.
      type: str
    cordoned:
      description: Whether the rollout would cordon the Node.
      type: bool
    evicted:
      description: The pods that would be evicted.
      type: list
      elements: str
    pods:
      description: All pods of the Node, empty if no drain is needed.
      type: list
      elements: dict
"""
