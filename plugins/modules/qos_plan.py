#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of qos_plan; its work is done by the action plugin of the same name."""

from __future__ import annotations

DOCUMENTATION = r"""
module: qos_plan
short_description: Translate a QoS profile to what a node can do (internal)
version_added: 0.1.0
description:
  - Works on the controller only, on facts that were gathered before. Returns the options of the tasks that the role
    P(volcano.colocation.qos#role) then carries out with M(volcano.colocation.systemd_slice) and
    M(volcano.colocation.cgroup_qos).
  - What each value means, and why it is the default, is told in the documentation of the role.
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
options:
  facts:
    description: The facts document of M(volcano.colocation.node_facts).
    type: dict
    required: true
  profile:
    description: What is wanted. An empty text in it means that nothing is wanted there.
    type: dict
    required: true
    suboptions:
      levels:
        description: The levels that the node is prepared for. Settings of the others go back to what they were.
        type: list
        elements: str
        choices: [LC, HLS, LS, BE]
        default: [HLS, LS, BE]
      be:
        description: The besteffort class.
        type: dict
        suboptions:
          cpu_quota:
            description: A share of the CPUs that are not reserved, or a number of CPUs.
            type: str
            default: 60%
          memory_high:
            description: A share of the node's memory, or an amount. Above it the class is throttled.
            type: str
            default: 80%
          memory_max:
            description: A share of the node's memory, or an amount. At it processes of the class are killed.
            type: str
            default: ""
          pids_max:
            description: Tasks of the class.
            type: str
            default: "32768"
          cpu_idle:
            description: Whether every pod of the class that is there yields to all others.
            type: bool
            default: false
      ls:
        description: The burstable class, and listed pods of the level V(LS).
        type: dict
        suboptions:
          memory_low:
            description: A share of the node's memory, or an amount, that others lose theirs before.
            type: str
            default: 50%
          memory_min:
            description: A share of the node's memory, or an amount, that is never reclaimed.
            type: str
            default: ""
          cpu_burst:
            description: Microseconds in a period by which listed pods may exceed their quota.
            type: str
            default: ""
      system:
        description: The slices beside the pods.
        type: dict
        suboptions:
          cpu_weight:
            description: V(reserved) for the one that follows from the reserved CPUs, or a weight from 1 to 10000.
            type: str
            default: reserved
          memory:
            description: Whether as much memory as is reserved is protected, and by which property.
            type: str
            choices: [low, min, none]
            default: low
      pods:
        description: Pods that get the settings of a level themselves.
        type: list
        elements: dict
        default: []
        suboptions:
          uid:
            description: The pod's UID. Either this, or namespace and name.
            type: str
          namespace:
            description: Its namespace.
            type: str
          name:
            description: Its name.
            type: str
          level:
            description: Its level.
            type: str
            choices: [LC, HLS, LS, BE]
            required: true
      kernel_levels:
        description: What C(cpu.qos_level) of an openEuler kernel takes, V(two) levels or several.
        type: str
        choices: [auto, two, multi]
        default: auto
  system_reserved_cgroup:
    description: The C(systemReservedCgroup) that kubelet is going to be told of. Without it the one in force.
    type: str
  cgroup_driver:
    description: The driver that kubelet is going to have. Without it the one in force.
    type: str
    choices: [systemd, cgroupfs]
  kube_reserved_cgroup:
    description: The same for C(kubeReservedCgroup).
    type: str
attributes:
  check_mode:
    support: full
    details: [It never changes anything.]
  diff_mode:
    support: none
"""

EXAMPLES = r"""
- name: Plan
  volcano.colocation.qos_plan:
    facts: "{{ ansible_facts.colocation }}"
    profile:
      be:
        cpu_quota: 50%
  register: qos_planned
"""

RETURN = r"""
unsupported:
  description: What this node does not get, each with C(level), C(setting) and C(reason).
  returned: success
  type: list
  elements: dict
cgroups:
  description: Options of M(volcano.colocation.cgroup_qos), each with C(target) and C(settings).
  returned: success
  type: list
  elements: dict
kubelet:
  description: What M(volcano.colocation.cgroup_qos) has to know of kubelet; a key is absent where it is not known.
  returned: success
  type: dict
  contains:
    cgroup_driver:
      description: kubelet's cgroup driver.
      type: str
    cgroup_root:
      description: kubelet's C(cgroupRoot).
      type: str
    memory_qos:
      description: Its gate C(MemoryQoS), where somebody set it.
      type: bool
    root_dir:
      description: The folder of its C(cpu_manager_state), C(--root-dir).
      type: str
    version:
      description: Its version, such as V(1.34).
      type: str
levels:
  description: By level of the Volcano agent, what a pod of that level is given on this node.
  returned: success
  type: dict
reserved_slices:
  description: Those of the slices that have to exist before kubelet is told of them.
  returned: success
  type: list
  elements: dict
slices:
  description: Options of M(volcano.colocation.systemd_slice).
  returned: success
  type: list
  elements: dict
"""
