#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of scheduler_config; the action plugin does the work."""

from __future__ import annotations

DOCUMENTATION = r"""
module: scheduler_config
short_description: Set up Volcano's scheduler, queues, PriorityClasses and admission for colocation
version_added: 0.1.0
description:
  - Changes the text of the scheduler's ConfigMap where colocation needs it and leaves every other line as it is;
    makes PriorityClasses, queues and admission policies. All of it is looked at, planned and refused before the
    first request that writes.
  - Runs on the controller. Nothing is changed unless O(cluster_uid) says that it is the cluster that is meant.
  - What was there before is kept in the ConfigMap C(volcano-colocation-scheduler) in O(namespace), for
    O(state=restored).
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
options:
  kubeconfig:
    description: Path of a kubeconfig on the controller. Its user needs the verbs that docs/scheduler.md lists.
    type: path
    required: true
  cluster_uid:
    description:
      - The UID of the cluster's namespace C(kube-system). A kubeconfig that leads to another cluster is refused,
        and so is any change as long as it is empty; the message says the UID that was found.
    type: str
    default: ""
  state:
    description:
      - V(present) sets what is wanted. What is no longer given is left, but for fields of objects that are still
        given.
      - V(restored) deletes what this collection made and puts back what it changed, the ConfigMap's text byte for
        byte. What somebody else has changed since is a conflict, and nothing is put back then.
    type: str
    choices: [present, restored]
    default: present
  namespace:
    description: Where Volcano is.
    type: str
    default: volcano-system
  deployment:
    description: The scheduler's Deployment, whose image tells its release.
    type: str
    default: volcano-scheduler
  configmap:
    description: The scheduler's ConfigMap. A Helm release of another name gives it another.
    type: str
    default: volcano-scheduler-configmap
  configmap_key:
    description: The key that holds the configuration.
    type: str
    default: volcano-scheduler.conf
  edit_configmap:
    description:
      - Whether the ConfigMap is changed. Its actions get V(allocate), V(backfill) and V(preempt) in this order, and
        every other action stays behind the one of these that it followed. C(priority) becomes the first plugin of
        the first tier. A C(gang) that is there gets C(enablePreemptable) and C(enableJobStarving) set to false.
    type: bool
    default: true
  dropped_actions:
    description:
      - Actions to take out, such as V(enqueue), which keeps jobs from C(preempt) in a full cluster.
    type: list
    elements: str
    default: []
  usage:
    description:
      - Load-aware scheduling. Adds the plugin C(usage) to the first tier, or sets the thresholds of the one that is
        there. Not given, the plugin is left as it is.
    type: dict
    suboptions:
      cpu:
        description: Nodes whose CPU usage is above this percentage, 0 to 100, get no pod.
        type: int
        default: 60
      memory:
        description: The same for memory.
        type: int
        default: 60
      enable_predicate:
        description:
          - Sets C(enablePredicate) of the plugin. V(false) gives nodes above a threshold fewer points, but pods all the
            same.
        type: bool
        default: true
        aliases: [keep_off]
  metrics:
    description: Where the scheduler reads the nodes' usage. Not given, what the configuration says is left.
    type: dict
    suboptions:
      type:
        description: The kind of source. V(prometheus_adaptor) is asked through the custom metrics API.
        type: str
        choices: [prometheus, prometheus_adaptor, elasticsearch]
        default: prometheus
      address:
        description:
          - Its address with scheme and port. A Service of the cluster, C(http://NAME.NAMESPACE.svc:PORT), has to be
            there. Any other is not looked at.
        type: str
        default: ""
      interval:
        description: How often it is asked.
        type: str
        default: 30s
  watermarks:
    description:
      - At which usage the agents of this cluster evict. Nothing is set by it. O(usage) is held against it, because
        a node above the watermark and below the threshold gets pods and loses them in turns.
    type: dict
    suboptions:
      system:
        description: Whose agent it is, which gives ranges and defaults, 80/60/30/30 in Volcano and 60/60 in openFuyao.
        type: str
        choices: [volcano, openfuyao]
        default: volcano
      cpu_high:
        description: Eviction begins above it. 1 to 100, 0 to 99 in openFuyao.
        type: int
      memory_high:
        description: The same for memory.
        type: int
      cpu_low:
        description: Eviction ends below it, Volcano only.
        type: int
      memory_low:
        description: The same for memory.
        type: int
  priority_classes:
    description:
      - PriorityClasses to have. The value and the policy of one that is there cannot be changed, and are refused.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Its name.
        type: str
        required: true
      value:
        description: Its value, up to 1000000000. Pods without a class have 0.
        type: int
        required: true
      preemption_policy:
        description: V(Never) for a class whose pods wait instead of making others leave.
        type: str
        choices: [Never, PreemptLowerPriority]
        default: PreemptLowerPriority
      global_default:
        description: Whether pods that name no class get this one. Only one class of a cluster can be that.
        type: bool
        default: false
      description:
        description: What people are told of it.
        type: str
        default: ""
  queues:
    description: Queues to have. A field that is not given is left as it is.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Its name.
        type: str
        required: true
      weight:
        description: Its share, for the plugin C(proportion).
        type: int
      capability:
        description: The most of each resource that it gets.
        type: dict
      deserved:
        description: What it may reclaim of each resource from other queues, for the plugin C(capacity).
        type: dict
      guarantee:
        description: What is kept free for it of each resource.
        type: dict
      reclaimable:
        description: Whether others may reclaim what it has beyond what it deserves. Volcano's default is V(true).
        type: bool
      parent:
        description: The queue above it.
        type: str
  admission:
    description:
      - Policies of the API server itself for pods whose annotation C(volcano.sh/qos-level) or
        C(openfuyao.com/QoS-level) names a level. A server that has no such policies gets none, and the result says
        so.
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
        description: What becomes of a pod that breaks a rule.
        type: str
        choices: [Deny, Warn, Audit]
        default: Deny
      scheduler:
        description: The scheduler that pods of a level get instead of the default one. Empty leaves them theirs.
        type: str
        default: volcano
      oversubscribed_resources:
        description: All that BE may ask for.
        type: list
        elements: str
        default: [kubernetes.io/batch-cpu, kubernetes.io/batch-memory]
      excluded_namespaces:
        description: Namespaces whose pods are left alone, beside O(namespace), where the agent's test pods are.
        type: list
        elements: str
        default: [kube-system]
      levels:
        description: What pods of a level get that do not say otherwise.
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
            description: Labels of the nodes that they may run on, as C(nodeSelector), which holds beside any affinity.
            type: dict
requirements:
  - the Python library kubernetes on the controller
attributes:
  check_mode:
    support: full
    details:
      - The API server carries out each request as a dry run, so that an admission that objects shows.
      - A queue whose parent is made in the same run is not tried, for the dry run makes no parent.
  diff_mode:
    support: full
"""

EXAMPLES = r"""
- name: Let HLS and LS make BE leave
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

- name: Put all of it back
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
  description: What was made, patched or deleted, in this order.
  returned: success
  type: list
  elements: dict
  contains:
    object:
      description: Its kind, namespace and name.
      type: str
    action:
      description: One of V(create), V(patch) and V(delete).
      type: str
unsupported:
  description: What this API server cannot have, each with the reason.
  returned: success
  type: list
  elements: str
findings:
  description: Contradictions of the configuration as it is after the run, each with its evidence and remedy.
  returned: success
  type: list
  elements: dict
"""
