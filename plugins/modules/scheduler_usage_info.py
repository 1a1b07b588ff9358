#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of scheduler_usage_info, which the action plugin with this name implements."""

from __future__ import annotations

DOCUMENTATION = r"""
module: scheduler_usage_info
short_description: Read the load of Nodes as Volcano's scheduler does
version_added: 0.1.0
description:
  - Sends the queries of the scheduler's plugin C(usage) to Prometheus and compares the result with the Nodes of the
    cluster. Finds a wrong label C(instance), missing data, data that are too young or have stopped, and duplicates.
  - Runs on the controller and changes nothing.
  - A Service of the cluster, C(http://NAME.NAMESPACE.svc:PORT), is queried through the API server. All other addresses
    are queried from the controller.
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
  - volcano.colocation.cluster
options:
  kubeconfig:
    description: Path of a kubeconfig on the controller. Its user needs the permissions in docs/scheduler.md.
    type: path
    required: true
  namespace:
    description: Volcano's namespace.
    type: str
    default: volcano-system
  configmap:
    description: The scheduler's ConfigMap. It does not have to exist if O(metrics) is set.
    type: str
    default: volcano-scheduler-configmap
  configmap_key:
    description: The ConfigMap's key with the configuration.
    type: str
    default: volcano-scheduler.conf
  metrics:
    description:
      - The source of the nodes' usage that the scheduler will get, as in M(volcano.colocation.scheduler_config). If it
        is not set, the current configuration's source is queried.
    type: dict
    suboptions:
      type:
        description: The type of the source. Only V(prometheus) can be queried.
        type: str
        choices: [prometheus, prometheus_adaptor, elasticsearch]
        default: prometheus
      address:
        description: The address of the source with scheme and port. If it is empty, it is that of the configuration.
        type: str
        default: ""
      interval:
        description: The query interval of the scheduler. It is not used here.
        type: str
        default: 30s
attributes:
  check_mode:
    support: full
    details: [It never changes anything.]
  diff_mode:
    support: none
"""

EXAMPLES = r"""
- name: Check Prometheus before load-aware scheduling is switched on
  volcano.colocation.scheduler_usage_info:
    kubeconfig: ~/.kube/config
    metrics:
      address: http://prometheus.monitoring.svc:9090
  delegate_to: localhost
  become: false
  run_once: true
  register: scheduler_usage

- name: Require correct data of all Nodes
  ansible.builtin.assert:
    that: scheduler_usage.findings | length == 0
  run_once: true
"""

RETURN = r"""
address:
  description: The address of Prometheus, without a password.
  returned: success
  type: str
usage:
  description: What the scheduler reads for each Node. Empty if Prometheus does not answer.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: The Node's name.
      type: str
    cpu:
      description: The average CPU usage of ten minutes in percent. Null without data, which the scheduler reads as 0.
      type: float
    memory:
      description: The same for memory.
      type: float
findings:
  description: What the scheduler reads wrongly, each with evidence and remedy.
  returned: success
  type: list
  elements: dict
"""
