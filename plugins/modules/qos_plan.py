#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of qos_plan, which the action plugin with this name implements."""

from __future__ import annotations

DOCUMENTATION = r"""
module: qos_plan
short_description: Translate a QoS profile to a node's settings (internal)
version_added: 0.1.0
description:
  - Runs only on the controller, with facts that were gathered before. Returns options for the tasks of the role
    P(volcano.colocation.qos#role) that call M(volcano.colocation.systemd_slice) and M(volcano.colocation.cgroup_qos).
  - The documentation of the role explains the values and their defaults. Internal to that role.
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
    description: The desired settings. An empty string means that this value is not set.
    type: dict
    required: true
    suboptions:
      levels:
        description: The levels to prepare the node for. Settings of other levels are restored to their previous values.
        type: list
        elements: str
        choices: [LC, HLS, LS, BE]
        default: [HLS, LS, BE]
      be:
        description: The besteffort class.
        type: dict
        suboptions:
          cpu_quota:
            description: A percentage of the CPUs that are not reserved, or a number of CPUs.
            type: str
            default: 60%
          memory_high:
            description: A percentage of the node's memory, or an amount. Above it the class is throttled.
            type: str
            default: 80%
          memory_max:
            description: A percentage of the node's memory, or an amount. At it processes of the class are killed.
            type: str
            default: ""
          pids_max:
            description: The maximum number of tasks in the class.
            type: str
            default: "32768"
          cpu_idle:
            description: Whether to set C(cpu.idle) on the current pods of the class, so that they yield to all others.
            type: bool
            default: false
      ls:
        description: The burstable class, and listed pods of the level V(LS).
        type: dict
        suboptions:
          memory_low:
            description: A percentage of the node's memory, or an amount, that is reclaimed after the memory of others.
            type: str
            default: 50%
          memory_min:
            description: A percentage of the node's memory, or an amount, that is never reclaimed.
            type: str
            default: ""
          cpu_burst:
            description: Microseconds per period by which listed pods may exceed their quota.
            type: str
            default: ""
      system:
        description: The slices that do not contain pods.
        type: dict
        suboptions:
          cpu_weight:
            description: V(reserved) for a weight that is derived from the reserved CPUs, or a weight from 1 to 10000.
            type: str
            default: reserved
          memory:
            description: Whether the reserved amount of memory is protected, and by which property.
            type: str
            choices: [low, min, none]
            default: low
      pods:
        description: Pods that get the settings of a level individually.
        type: list
        elements: dict
        default: []
        suboptions:
          uid:
            description: The pod's UID. Set either this or namespace and name.
            type: str
          namespace:
            description: The pod's namespace.
            type: str
          name:
            description: The pod's name.
            type: str
          level:
            description: The pod's level.
            type: str
            choices: [LC, HLS, LS, BE]
            required: true
      kernel_levels:
        description: The values of C(cpu.qos_level) on an openEuler kernel, V(two) levels or V(multi) for several.
        type: str
        choices: [auto, two, multi]
        default: auto
  system_reserved_cgroup:
    description: The C(systemReservedCgroup) that kubelet will get. If it is not set, the effective one.
    type: str
  cgroup_driver:
    description: The cgroup driver that kubelet will get. If it is not set, the effective one.
    type: str
    choices: [systemd, cgroupfs]
  kube_reserved_cgroup:
    description: The same for C(kubeReservedCgroup).
    type: str
attributes:
  check_mode:
    support: full
    details: [The module never changes anything.]
  diff_mode:
    support: none
"""

EXAMPLES = r"""
- name: Plan the QoS settings
  volcano.colocation.qos_plan:
    facts: "{{ ansible_facts.colocation }}"
    profile:
      be:
        cpu_quota: 50%
  register: qos_planned
"""

RETURN = r"""
unsupported:
  description: Settings that this node does not support, each with C(level), C(setting) and C(reason).
  returned: success
  type: list
  elements: dict
cgroups:
  description: Options of M(volcano.colocation.cgroup_qos), each with C(target) and C(settings).
  returned: success
  type: list
  elements: dict
kubelet:
  description: Options about kubelet for M(volcano.colocation.cgroup_qos). Unknown values are omitted.
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
      description: kubelet's feature gate C(MemoryQoS), if it is set.
      type: bool
    root_dir:
      description: kubelet's C(--root-dir), the directory of its C(cpu_manager_state).
      type: str
    version:
      description: kubelet's version, such as V(1.34).
      type: str
levels:
  description: By level of the Volcano agent, the settings of a pod with that level on this node.
  returned: success
  type: dict
reserved_slices:
  description: The slices that must exist before kubelet is configured to use them.
  returned: success
  type: list
  elements: dict
slices:
  description: Options of M(volcano.colocation.systemd_slice).
  returned: success
  type: list
  elements: dict
"""
