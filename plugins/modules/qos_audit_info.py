#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of qos_audit_info, which the action plugin with this name implements."""

from __future__ import annotations

DOCUMENTATION = r"""
module: qos_audit_info
short_description: Find pods that break the rules of their QoS level
version_added: 0.1.0
description:
  - Checks the pods of a cluster by the rules of the admission policy that M(volcano.colocation.scheduler_config)
    creates. A pod is checked if its annotation C(volcano.sh/qos-level) or C(openfuyao.com/QoS-level) names a level, and
    if it has not ended.
  - Use it on API servers without ValidatingAdmissionPolicy (before Kubernetes 1.30), where new pods are not checked,
    and for pods that were created before the policy.
  - Runs on the controller and changes nothing.
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
  - volcano.colocation.cluster
options:
  kubeconfig:
    description: Path of a kubeconfig on the controller. Its user needs the permission to list pods in all namespaces.
    type: path
    required: true
  namespace:
    description: Volcano's namespace, which is excluded because the agent's test pods are there.
    type: str
    default: volcano-system
  oversubscribed_resources:
    description: The only resources that BE pods may request.
    type: list
    elements: str
    default: [kubernetes.io/batch-cpu, kubernetes.io/batch-memory]
  excluded_namespaces:
    description: Namespaces whose pods are not checked, in addition to O(namespace).
    type: list
    elements: str
    default: [kube-system]
attributes:
  check_mode:
    support: full
    details: [It never changes anything.]
  diff_mode:
    support: none
"""

EXAMPLES = r"""
- name: Check all pods by the rules of their level
  volcano.colocation.qos_audit_info:
    kubeconfig: ~/.kube/config
  delegate_to: localhost
  become: false
  run_once: true
  register: qos_audit

- name: Require that all pods follow the rules
  ansible.builtin.assert:
    that: qos_audit.rules | map(attribute='pods') | flatten | length == 0
  run_once: true
"""

RETURN = r"""
checked:
  description: The number of pods with a level that were checked.
  returned: success
  type: int
rules:
  description: All rules, in the order of the admission policy.
  returned: success
  type: list
  elements: dict
  contains:
    message:
      description: The rule's message, which the admission policy has too.
      type: str
    pods:
      description: The pods that break it, each as NAMESPACE/NAME, in alphabetical order.
      type: list
      elements: str
unsupported:
  description: What the API server lacks to check pods when they are created, with the reason. Empty if it has it.
  returned: success
  type: list
  elements: str
"""
