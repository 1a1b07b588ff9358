#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of node_drain, which the action plugin with this name implements."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_drain
short_description: Drain or uncordon the Node of a host (internal)
version_added: 0.1.0
description:
  - Cordons the Node and evicts its pods through the eviction API, which respects PodDisruptionBudgets. Nothing is
    forced. A Node that cannot be drained, or not in time, is uncordoned again. RV(reason) explains why; this is not a
    failure.
  - A Node that was cordoned before stays cordoned. A Node that this module cordoned has the annotation
    C(colocation.volcano.sh/cordoned). If this run is interrupted, a later run recognizes and uncordons it.
  - Pods of DaemonSets, static pods and finished pods are not evicted.
  - Uses the variables that the role C(node) has registered for the host. Internal to the playbook C(provision).
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
  - volcano.colocation.cluster
  - volcano.colocation.rollout
options:
  name:
    description: The host's name in the inventory.
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
      - Seconds to wait for the eviction of the pods, or for the Node to be Ready. V(0) does not wait for the Node.
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

- name: Uncordon the node if the drain cordoned it
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
  description: Whether all pods that must leave have left. In check mode whether they could leave.
  returned: with state=drained
  type: bool
reason:
  description: Why the Node is not drained.
  returned: with state=drained
  type: str
cordoned:
  description: Whether this task cordoned the Node.
  returned: with state=drained
  type: bool
evicted:
  description: The pods that were evicted.
  returned: with state=drained
  type: list
  elements: str
pods:
  description: All pods of the Node before the drain.
  returned: with state=drained
  type: list
  elements: dict
  contains:
    pod:
      description: The pod's namespace and name.
      type: str
    action:
      description:
        - What the drain does with the pod. V(ignore) does not touch it, V(evict) evicts it, V(wait) waits for a pod
          that is being deleted, and V(refuse) prevents draining the node.
      type: str
    reason:
      description: The reason.
      type: str
    blocking_pdb:
      description: The PodDisruptionBudget that did not allow a disruption, else empty.
      type: str
"""
