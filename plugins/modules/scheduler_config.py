#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of scheduler_config, which the action plugin with this name implements."""

from __future__ import annotations

DOCUMENTATION = r"""
module: scheduler_config
short_description: Set up Volcano's scheduler, queues, PriorityClasses and admission for colocation
version_added: 0.1.0
description:
  - Changes the lines of the scheduler's ConfigMap that colocation requires, and creates PriorityClasses, queues and
    admission policies. The whole plan is made, and refused if necessary, before the first write request.
  - Runs on the controller. Nothing is changed unless O(cluster_uid) matches the cluster.
  - The previous values are kept in the ConfigMap C(volcano-colocation-scheduler) in O(namespace), for
    O(state=restored).
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
  - volcano.colocation.cluster
  - volcano.colocation.cluster.uid
options:
  kubeconfig:
    description: Path of a kubeconfig on the controller. Its user needs the permissions in docs/scheduler.md.
    type: path
    required: true
  state:
    description:
      - V(present) applies the options. Objects that are no longer listed stay. In listed objects, fields that an
        earlier run set and that are no longer set are removed; other fields that are not set do not change.
      - V(restored) deletes the objects that this collection created and restores those that it changed, the ConfigMap's
        text byte for byte. If anything else has changed them since, this is a conflict and nothing is restored.
    type: str
    choices: [present, restored]
    default: present
  namespace:
    description: Volcano's namespace.
    type: str
    default: volcano-system
  deployment:
    description: The scheduler's Deployment. Its image shows the release.
    type: str
    default: volcano-scheduler
  configmap:
    description: The scheduler's ConfigMap. Its name depends on the name of the Helm release.
    type: str
    default: volcano-scheduler-configmap
  configmap_key:
    description: The ConfigMap's key with the configuration.
    type: str
    default: volcano-scheduler.conf
  edit_configmap:
    description:
      - Whether to change the ConfigMap. The actions get V(allocate), V(backfill) and V(preempt) in this order. Other
        actions stay behind the one of these that they followed. C(priority) becomes the first plugin of the first
        tier. C(enablePreemptable) and C(enableJobStarving) of an existing C(gang) are set to false.
    type: bool
    default: true
  dropped_actions:
    description:
      - Actions to remove, such as V(enqueue), which keeps jobs from C(preempt) in a full cluster.
    type: list
    elements: str
    default: []
  reclaim:
    description:
      - Whether to add the action C(reclaim) behind C(preempt) if it is missing. C(preempt) never takes resources from
        another queue; C(reclaim) takes them from reclaimable queues, for a queue that has less than it deserves.
      - Moves the plugins C(capacity) and C(proportion) to the tier of C(gang). In another tier C(reclaim) evicts pods
        that the C(minAvailable) of their jobs needs.
      - With V(false) an existing C(reclaim) stays. O(dropped_actions) removes it.
    type: bool
    default: false
  usage:
    description:
      - Load-aware scheduling. Adds the plugin C(usage) to the first tier, or sets the thresholds of an existing one.
        If it is not set, the plugin is not changed.
    type: dict
    suboptions:
      enabled:
        description:
          - Whether load-aware scheduling is on. V(false) removes the plugin C(usage) and ignores the other values of
            O(usage). The source of metrics in the configuration does not change, nor do the agents' evictions.
        type: bool
        default: true
      cpu:
        description: Nodes with a CPU usage above this percentage, 0 to 100, get no new pods.
        type: int
        default: 60
      memory:
        description: The same for memory.
        type: int
        default: 60
      enable_predicate:
        description:
          - Sets C(enablePredicate) of the plugin. With V(false) nodes above a threshold get a lower score, but still
            get pods.
        type: bool
        default: true
        aliases: [keep_off]
      weight:
        description: The weight of the plugin's score for a node, 5 in Volcano. If it is not set, it is not changed.
        type: int
      cpu_weight:
        description: The weight of the CPU usage in this score, 1 in Volcano. If it is not set, it is not changed.
        type: int
      memory_weight:
        description: The same for memory. It and O(usage.cpu_weight) cannot both be 0.
        type: int
  binpack:
    description:
      - Scores of the plugin C(binpack), which prefers nodes with few free resources. Sets the arguments of an existing
        plugin, or adds it as the last one of the last tier. If it is not set, the plugin is not changed.
    type: dict
    suboptions:
      weight:
        description:
          - The weight of the plugin's score for a node, 0 or more, 1 in Volcano. With V(0) the plugin does nothing. If
            it is not set, it is not changed.
        type: int
      cpu:
        description: The weight of the CPU in this score, 0 or more, 1 in Volcano. If it is not set, it is not changed.
        type: int
      memory:
        description: The same for memory.
        type: int
      resources:
        description:
          - Weights of extended resources by their names, such as C(nvidia.com/gpu). Other resources that the plugin
            already counts stay. With V(0) a resource does not count.
        type: dict
  metrics:
    description: The source of the nodes' usage for the scheduler. If it is not set, the configuration is not changed.
    type: dict
    suboptions:
      type:
        description: The type of the source. V(prometheus_adaptor) is queried through the custom metrics API.
        type: str
        choices: [prometheus, prometheus_adaptor, elasticsearch]
        default: prometheus
      address:
        description:
          - The address of the source with scheme and port. A Service of the cluster, C(http://NAME.NAMESPACE.svc:PORT),
            must exist. Other addresses are not checked.
        type: str
        default: ""
      interval:
        description: The query interval.
        type: str
        default: 30s
  watermarks:
    description:
      - The usage at which the agents of this cluster evict pods. It sets nothing. O(usage) is compared with it, because
        a node above the watermark and below the threshold would get pods and lose them in turns.
    type: dict
    suboptions:
      system:
        description: The agent, which determines ranges and defaults (80/60/30/30 in Volcano, 60/60 in openFuyao).
        type: str
        choices: [volcano, openfuyao]
        default: volcano
      cpu_high:
        description: Eviction begins above this percentage, 1 to 100, or 0 to 99 in openFuyao.
        type: int
      memory_high:
        description: The same for memory.
        type: int
      cpu_low:
        description: Eviction ends below this percentage, Volcano only.
        type: int
      memory_low:
        description: The same for memory.
        type: int
  priority_classes:
    description:
      - PriorityClasses to create or change. Changing the value or the policy of an existing class is refused.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Its name.
        type: str
        required: true
      value:
        description: The value of the class, up to 1000000000. Pods without a class have 0.
        type: int
        required: true
      preemption_policy:
        description: V(Never) for a class whose pods wait instead of preempting others.
        type: str
        choices: [Never, PreemptLowerPriority]
        default: PreemptLowerPriority
      global_default:
        description: Whether pods without a class get this one. Only one class of a cluster can have this set.
        type: bool
        default: false
      description:
        description: The description of the class for users.
        type: str
        default: ""
  queues:
    description: Queues to create or change. Fields that are not set are not changed.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Its name.
        type: str
        required: true
      weight:
        description: The queue's weight, for the plugin C(proportion).
        type: int
      capability:
        description: The queue's maximum of each resource.
        type: dict
      deserved:
        description: The amount of each resource that it may reclaim from other queues, for the plugin C(capacity).
        type: dict
      guarantee:
        description: The amount of each resource that is reserved for the queue.
        type: dict
      reclaimable:
        description: Whether other queues may reclaim resources above its deserved amount. Volcano's default is V(true).
        type: bool
      parent:
        description: The parent queue.
        type: str
  admission:
    description:
      - Admission policies of the API server for pods with a level in the annotation C(volcano.sh/qos-level) or
        C(openfuyao.com/QoS-level). If the API server does not support such policies, they are listed in
        RV(unsupported).
    type: dict
    suboptions:
      validate:
        description: A ValidatingAdmissionPolicy with the rules of HLS, LS and BE.
        type: bool
        default: true
      mutate:
        description: A MutatingAdmissionPolicy for each of O(admission.levels).
        type: bool
        default: true
      action:
        description: The action on a pod that violates a rule.
        type: str
        choices: [Deny, Warn, Audit]
        default: Deny
      scheduler:
        description: The scheduler of pods with a level, instead of the default one. Empty does not change it.
        type: str
        default: volcano
      oversubscribed_resources:
        description: The only resources that BE pods may request.
        type: list
        elements: str
        default: [kubernetes.io/batch-cpu, kubernetes.io/batch-memory]
      excluded_namespaces:
        description: Namespaces without these policies, in addition to O(namespace), where the agent's test pods run.
        type: list
        elements: str
        default: [kube-system]
      levels:
        description: Defaults for pods of a level.
        type: list
        elements: dict
        default: []
        suboptions:
          level:
            description: The level.
            type: str
            choices: [HLS, LS, BE]
            required: true
          priority_class:
            description: One of O(priority_classes).
            type: str
          node_labels:
            description: Labels of the nodes that the pods may run on, as C(nodeSelector), in addition to any affinity.
            type: dict
attributes:
  check_mode:
    support: full
    details:
      - The API server handles each request as a dry run, so that rejections by admission are reported.
      - A queue whose parent is created in the same run is not tried, because the dry run creates no parent.
  diff_mode:
    support: full
"""

EXAMPLES = r"""
- name: Let HLS and LS pods preempt BE pods
  volcano.colocation.scheduler_config:
    kubeconfig: ~/.kube/config
    cluster_uid: 6f1c2b7e-0000-4000-8000-000000000001
    dropped_actions: [enqueue]
    usage:
      cpu: 60
      memory: 60
    metrics:
      address: http://prometheus.monitoring.svc:9090
    priority_classes:
      - name: colocation-hls
        value: 1000000
      - name: colocation-ls
        value: 100000
      - name: colocation-be
        value: -100000
        preemption_policy: Never
    admission:
      levels:
        - level: HLS
          priority_class: colocation-hls
        - level: LS
          priority_class: colocation-ls
        - level: BE
          priority_class: colocation-be
          node_labels:
            volcano.sh/oversubscription: "true"
  delegate_to: localhost
  become: false
  run_once: true

- name: Restore everything
  volcano.colocation.scheduler_config:
    kubeconfig: ~/.kube/config
    cluster_uid: 6f1c2b7e-0000-4000-8000-000000000001
    state: restored
  delegate_to: localhost
  become: false
  run_once: true
"""

RETURN = r"""
changes:
  description: Objects that were created, patched or deleted, in this order.
  returned: success
  type: list
  elements: dict
  contains:
    object:
      description: The object's kind, namespace and name.
      type: str
    action:
      description: One of V(create), V(patch) and V(delete).
      type: str
unsupported:
  description:
    - Objects that this API server does not support, each with the reason. Where ValidatingAdmissionPolicies are among
      them, M(volcano.colocation.qos_audit_info) checks pods by the same rules.
  returned: success
  type: list
  elements: str
findings:
  description: Contradictions in the configuration after the run, each with evidence and remedy.
  returned: success
  type: list
  elements: dict
"""
