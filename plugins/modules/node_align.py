#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of node_align; its work is done by the action plugin of the same name."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_align
short_description: Bring a node to a profile in one transaction, or leave it as it was
version_added: 0.1.0
description:
  - Observes the node, plans what differs from the profile, carries the plan out as one journalled transaction and looks
    at the node again. It ends aligned, or exactly as it began.
  - The transaction runs on the node as a transient systemd unit and outlives its caller.
  - An aligned node costs one module execution, a misaligned one three.
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
  - volcano.colocation.attributes.action_group
  - volcano.colocation.profile.defaults
  - volcano.colocation.kubelet_fields.driver
  - volcano.colocation.kubelet_fields
  - volcano.colocation.profile.kubelet
  - volcano.colocation.profile.runtime
  - volcano.colocation.profile.containerd
  - volcano.colocation.recovery
  - volcano.colocation.disruption
options:
  observation:
    description:
      - The RV(observation) of an earlier run in check mode in the same run of C(ansible-playbook). It saves looking at
        the node again; the transaction checks that no file has changed since.
    type: str
  assume_slices:
    description:
      - The slices that O(system_reserved_cgroup) and O(kube_reserved_cgroup) name are made before the node is aligned,
        as the entry C(reserve) of the role C(volcano.colocation.qos) does it.
      - In check mode the plan and the verdict then take them for there, and RV(assumptions) names those that are not
        there yet. Without check mode nothing is assumed. A node that lacked one in its O(observation) is looked at
        again, and refused if it still does.
    type: bool
    default: false
    aliases: [slices_promised]
  preflight:
    description:
      - Whether check mode has the node make the checks with which the transaction begins, so that it fails where the
        transaction would be refused. That takes one module execution, where there is anything to change.
      - V(false) is for a run in check mode that a run without check mode follows, which makes these checks anyway.
    type: bool
    default: true
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
"""

EXAMPLES = r"""
- name: Align the node, pods may be stopped
  volcano.colocation.node_align:
    cgroup_driver: systemd
    cpu_manager_policy: static
    system_reserved:
      cpu: 500m
    nri:
      enabled: true
    allow_disruption: true
"""

RETURN = r"""
plan:
  description:
    - What changes in C(changes), what is left in C(pending), what this node cannot have and why in C(unsupported), what
      the changes do to services and pods in C(impact), why the node is refused in C(refusals), and with which strategy
      and in which files kubelet's settings are kept in C(kubelet).
    - C(permission) says why the changes are not applied yet and which option allows them; null if all are allowed.
  returned: always
  type: dict
owner_instructions:
  description:
    - The settings to give to the tools that own kubelet's configuration on this node, so that their next run agrees
      with the profile. By the name of each owner, inventory variables, texts by the place they belong to, and a note.
    - Empty where no owner is known.
  returned: always
  type: dict
verdict:
  description: One word on the node, after the transaction if there was one.
  returned: always
  type: str
facts:
  description: The facts as M(volcano.colocation.node_facts) gives them, after the transaction if there was one.
  returned: always
  type: dict
transaction:
  description: State, steps with their times, checks of the health gate, and the error if there was one.
  returned: when the node was changed or should have been
  type: dict
assumptions:
  description:
    - C(slices) are the names of those that have to be made first, C(cgroup_driver) is the driver that kubelet then has.
  returned: in check mode, with O(assume_slices)
  type: dict
observation:
  description: For O(observation) of a later run.
  returned: in check mode, when something would change
  type: str
recovered:
  description: The id and the end of an earlier transaction that had been cut off, which O(recover) is about.
  returned: when there was one
  type: dict
usage:
  description: What the task cost.
  returned: success
  type: dict
  contains:
    module_executions:
      description: Modules run on the node, polls apart.
      type: int
    polls:
      description: Times the node was asked how far it is.
      type: int
    planning_ms:
      description: CPU time of the controller for facts and plan, in milliseconds.
      type: float
    program_seconds:
      description: Time the node's own programs took, kubelet and containerd telling their versions, in seconds.
      type: float
"""
