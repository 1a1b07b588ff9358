#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of node_drain; its work is done by the action plugin of the same name."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_drain
short_description: Drain the Node of a host, or leave its cordon as it was (internal)
version_added: 0.1.0
description:
  - Cordons the Node and evicts its pods through the eviction API, which keeps PodDisruptionBudgets. Nothing is forced.
    A Node that cannot be drained in time, or at all, is opened again, and RV(reason) says why; that is no failure.
  - A Node that was cordoned before stays so. One that this module cordoned carries the annotation
    C(colocation.volcano.sh/cordoned), by which a later run knows it, and opens it, if this one is killed.
  - Left where they are are pods of DaemonSets, pods that kubelet runs from files, and pods that have finished.
  - Works on what the role C(node) has registered of the host. Internal to the playbook C(provision).
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
  - volcano.colocation.rollout
options:
  name:
    description: The host, as the inventory calls it.
    type: str
    required: true
  state:
    description:
      - V(drained) drains the Node. V(uncordoned) waits until it is Ready, and uncordons it if it was cordoned by
        V(drained).
    type: str
    choices: [drained, uncordoned]
    required: true
  timeout:
    description:
      - Seconds that the pods may take to leave, or the Node to be Ready. With V(0) nobody waits for the Node.
    type: int
    default: 600
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
"""

EXAMPLES = r"""
- name: Drain the node
  volcano.colocation.node_drain:
    kubeconfig: ~/.kube/config
    name: "{{ inventory_hostname }}"
    state: drained
  delegate_to: localhost
  become: false
  register: rollout_drained

- name: Leave its cordon as it was
  volcano.colocation.node_drain:
    kubeconfig: ~/.kube/config
    name: "{{ inventory_hostname }}"
    state: uncordoned
  delegate_to: localhost
  become: false
"""

RETURN = r"""
node:
  description: The name of the Node.
  returned: success
  type: str
drained:
  description: Whether all that has to leave has left; in check mode whether it could, as far as that can be seen.
  returned: with state=drained
  type: bool
reason:
  description: Why it is not drained.
  returned: with state=drained
  type: str
cordoned:
  description: Whether it is now cordoned, and was not before.
  returned: with state=drained
  type: bool
evicted:
  description: The pods that were evicted.
  returned: with state=drained
  type: list
  elements: str
pods:
  description: All pods of the Node as they were found.
  returned: with state=drained
  type: list
  elements: dict
  contains:
    pod:
      description: Its namespace and name.
      type: str
    action:
      description:
        - What the drain does with it. V(ignore) leaves it, V(evict) evicts it, V(wait) waits for one that is being
          deleted, and V(refuse) keeps the node from being drained.
      type: str
    reason:
      description: Why.
      type: str
    blocking_pdb:
      description: The PodDisruptionBudget that allowed no disruption when it was looked at, else empty.
      type: str
"""
