#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of node_align, which the action plugin with this name implements."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_align
short_description: Apply a profile to a node in one transaction
version_added: 0.1.0
description:
  - Reads the node's state, plans the differences from the profile, applies the plan as one journalled transaction and
    reads the state again. The transaction commits completely or is rolled back.
  - The transaction runs on the node as a transient systemd unit and continues if the connection is lost.
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
      - The RV(observation) of an earlier task in check mode in the same run of C(ansible-playbook). The node is then
        not read again. The transaction checks that no file has changed since.
    type: str
  assume_slices:
    description:
      - Whether to assume in check mode that the slices in O(system_reserved_cgroup) and O(kube_reserved_cgroup) exist,
        because they are created before the node is aligned, as the entry C(reserve) of the role
        C(volcano.colocation.qos) does.
      - RV(assumptions) lists the missing slices. Without check mode nothing is assumed. If one was missing in the
        O(observation), the node is read again, and refused if it is still missing.
    type: bool
    default: false
    aliases: [slices_promised]
  preflight:
    description:
      - Whether check mode runs the transaction's initial checks on the node, so that it fails if the transaction would
        be refused. That takes one module execution if there are changes.
      - Use V(false) in check mode if a run without check mode follows, which makes these checks anyway.
    type: bool
    default: true
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
"""

EXAMPLES = r"""
- name: Align the node and allow stopping pods
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
    - C(changes) and C(pending) are the planned and the postponed changes, C(unsupported) has the settings that this
      node does not support with the reasons, C(impact) is the effect on services and pods, C(refusals) are the reasons
      to refuse the node, and C(kubelet) has the strategy and the files for kubelet's settings.
    - C(permission) explains why the changes are not applied yet and which option allows them. Null if all are allowed.
  returned: always
  type: dict
owner_instructions:
  description:
    - The settings for the tools that own kubelet's configuration on this node, so that their next run agrees
      with the profile. By owner, inventory variables, file texts by their location, and a note.
    - Empty if no owner is known.
  returned: always
  type: dict
verdict:
  description: The node's verdict, after the transaction if there was one.
  returned: always
  type: str
facts:
  description: The facts as from M(volcano.colocation.node_facts), after the transaction if there was one.
  returned: always
  type: dict
transaction:
  description: State, steps with their times, checks of the health gate, and the error if there was one.
  returned: when the node was changed or should have been
  type: dict
assumptions:
  description:
    - C(slices) are the slices that must be created first, C(cgroup_driver) is kubelet's driver after the change.
  returned: in check mode, with O(assume_slices)
  type: dict
observation:
  description: The value for O(observation) of a later task.
  returned: in check mode, when something would change
  type: str
recovered:
  description: The ID and the end state of an earlier interrupted transaction that was recovered, see O(recover).
  returned: when a transaction was recovered
  type: dict
usage:
  description: Cost of the task.
  returned: success
  type: dict
  contains:
    module_executions:
      description: Number of module runs on the node, without polls.
      type: int
    polls:
      description: Number of times that the node was polled for progress.
      type: int
    planning_ms:
      description: CPU time of the controller for facts and plan in milliseconds.
      type: float
    program_seconds:
      description: Run time of C(kubelet --version), C(containerd --version) and the like on the node, in seconds.
      type: float
"""
