#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of agent_deploy; the action plugin does the work."""

from __future__ import annotations

DOCUMENTATION = r"""
module: agent_deploy
short_description: Deploy or remove the Volcano agent in a cluster
version_added: 0.1.0
description:
  - Groups the hosts of a play into pools of nodes of one kind, by the results of M(volcano.colocation.node_facts) and
    M(volcano.colocation.agent_host_info). Each pool has one DaemonSet, which is configured with the cgroup driver and
    root, the paths and the features of its nodes.
  - Manages the agent's ConfigMap, its ServiceAccount and roles, and ColocationConfiguration objects. Values of other
    clients in the ConfigMap are not changed.
  - Runs once on the controller, for all hosts of a play. Nothing is written unless the boot id or the machine id of
    each Node proves that the kubeconfig is for the cluster of these hosts.
  - Fails before the first change if something is not possible, and names every host or object concerned.
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
  - volcano.colocation.cluster
  - volcano.colocation.cluster.hosts
options:
  kubeconfig:
    description: Path of a kubeconfig on the controller. Its user needs the verbs that docs/agent.md lists.
    type: path
  namespace:
    description: The namespace of the agent. It is created if it does not exist, and never deleted.
    type: str
    default: volcano-system
  state:
    description:
      - V(present) creates and changes objects.
      - V(absent) deletes the objects that this module created, and the agent's values on Nodes, and restores the
        previous ConfigMap and labels.
    type: str
    choices: [present, absent]
    default: present
  step:
    description:
      - V(objects) is everything except the labels that enable the agent.
      - V(labels) sets C(volcano.sh/colocation) and C(volcano.sh/oversubscription), or removes the labels that it set.
      - V(values) only returns the pools, and the values for upstream's Helm chart. It does not use the API server, so
        the result does not depend on whether the chart is already installed.
    type: str
    choices: [objects, labels, values]
    default: objects
  recheck_seconds:
    description:
      - With O(step=labels), seconds after which changed labels are read again. An agent that is starting has not read
        the labels of its Node yet, and resets one of them. Such labels are set again, until all of them stay.
      - With V(0), they are not read again.
    type: int
    default: 0
  label_nodes:
    description:
      - Whether these labels may be changed. Once a Node has them, the agent evicts its offline pods when usage exceeds
        the watermarks. When they are removed, the agent evicts the pods that use oversubscribed resources.
      - If this is not set and labels must change, the module fails before the first change. With V(false), it does not
        change labels, and reports them as pending.
    type: bool
    aliases: [label]
  smoke_test:
    description:
      - Whether M(volcano.colocation.agent_smoke_test) will follow. If so, its permissions are also checked before the
        first change.
    type: bool
    default: false
    aliases: [probe]
  image:
    description: The agent's image. Its tag is the release, which determines the supported features of a node.
    type: str
    default: docker.io/volcanosh/vc-agent:v1.14.0
  version:
    description: The release of an image whose tag is not a release, such as V(v1.14.0).
    type: str
  pull_policy:
    description: The C(imagePullPolicy) of the agent's containers. Use V(Never) for images that are imported on nodes.
    type: str
    choices: [Always, IfNotPresent, Never]
    default: IfNotPresent
  image_ids:
    description:
      - Ids of an image that is imported on nodes, one for each architecture. If they change, pods are replaced, also if
        O(image) is the same name.
    type: list
    elements: str
    default: []
  features:
    description:
      - The features to enable. Features that a pool's nodes do not support are disabled for the pool, with the reason
        in RV(pools).
      - They are enabled in the agent's flags and in its configuration for the pool; all others are disabled.
    type: list
    elements: str
    choices:
      - OverSubscription
      - Eviction
      - Resources
      - CPUQoS
      - CPUBurst
      - CPUThrottle
      - MemoryQoS
      - MemoryQoSV2
      - NetworkQoS
    default: [OverSubscription, Eviction, Resources]
  watermarks: &watermarks
    description: The usage at which the agent evicts pods, and at which it accepts pods again. By default not changed.
    type: dict
    suboptions:
      system:
        description:
          - The system whose ranges and defaults the values have. If it is not set, that is Volcano.
          - V(openfuyao) has one watermark for each resource, from 0 to 99 and 60 by default, that usage has to exceed.
            The low values must not be set with it.
        type: str
        choices: [volcano, openfuyao]
      cpu_high:
        description: CPU usage in percent above which offline pods are evicted, from 1 to 100. Upstream's default is 80.
        type: int
      cpu_low:
        description: CPU usage in percent below which offline pods are accepted again, less than
          O(watermarks.cpu_high). Upstream's default is 30.
        type: int
      memory_high:
        description: Memory usage in percent above which offline pods are evicted. Upstream's default is 60.
        type: int
      memory_low:
        description: Memory usage in percent below which offline pods are accepted again. Upstream's default is 30.
        type: int
  throttling: &throttling
    description: How the feature C(CPUThrottle) limits BestEffort pods. By default not changed.
    type: dict
    suboptions:
      threshold:
        description: Percent of the allocatable CPU that all pods together may use, from 1 to 100.
        type: int
      jitter_limit:
        description: Minimum change of the limit in percent. Smaller changes are not written.
        type: int
      recover_limit:
        description: Maximum increase of the limit in one step, in percent.
        type: int
  oversubscription: &oversubscription
    description: The idle resources that are oversubscribed. By default not changed.
    type: dict
    suboptions:
      types:
        description: The resources.
        type: list
        elements: str
        choices: [cpu, memory]
  network: &network
    description: How the feature C(NetworkQoS) shares bandwidth. By default not changed.
    type: dict
    suboptions:
      online_watermark:
        description: Percent of the bandwidth used by online pods above which offline pods get less, from 1 to 1000.
        type: int
      offline_low:
        description: Percent of the bandwidth for offline pods above this watermark, at most O(network.offline_high).
        type: int
      offline_high:
        description: Percent of the bandwidth for offline pods below this watermark.
        type: int
      check_interval:
        description: Nanoseconds between two checks.
        type: int
  oversubscription_ratio:
    description: Percent of the idle resources that are oversubscribed, from 1 to 100.
    type: int
    default: 60
  include_system_usage:
    description: Whether usage outside of pods counts.
    type: bool
    default: false
  pools:
    description:
      - Pools with settings that override the common ones. Other hosts are grouped only by the kind of their nodes. A
        pool with nodes of several kinds gets a DaemonSet for each kind.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Name of the pool, part of the names of its DaemonSets.
        type: str
        required: true
      nodes:
        description: Hosts and groups of the inventory. A host can be in only one pool.
        type: list
        elements: str
        required: true
      watermarks: *watermarks
      throttling: *throttling
      oversubscription: *oversubscription
      network: *network
  memory_qos:
    description:
      - ColocationConfiguration objects, for the feature C(MemoryQoSV2). They need the CRD of Volcano 1.14 or newer.
      - Objects that this module created, and that are no longer listed, are deleted.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Name of the object.
        type: str
        required: true
      namespace:
        description: The namespace of the pods.
        type: str
        required: true
      selector:
        description: A label selector of the Kubernetes API for the pods.
        type: dict
        required: true
      high_ratio:
        description: Percent of a container's memory limit above which it is throttled. V(100) disables throttling.
        type: int
        default: 100
      low_ratio:
        description: Percent of its memory request that is reclaimed only if there is no other memory to reclaim.
        type: int
        default: 0
      min_ratio:
        description: Percent of its memory request that is never reclaimed.
        type: int
        default: 0
  tolerations:
    description: Tolerations of the agent's pods. By default all taints are tolerated, since a DaemonSet selects the
      nodes of its pool.
    type: list
    elements: dict
    default: [{operator: Exists}]
  resources:
    description: Resources of the agent's containers. Without requests, the agent would throttle its own pod.
    type: dict
    default: {requests: {cpu: 50m, memory: 100Mi}}
  selinux_type:
    description: SELinux type of the agent's containers on nodes where SELinux enforces.
    type: str
    default: spc_t
  cni_config:
    description: The CNI configuration that C(NetworkQoS) adds its plugin to.
    type: path
    default: /etc/cni/net.d/cni.conflist
  port:
    description: The port for the agent's health checks and metrics on each node, from 1024 to 65535.
    type: int
    default: 3300
  verbosity:
    description: The agent's log verbosity, from 0 to 10.
    type: int
    default: 2
attributes:
  check_mode:
    support: full
    details: [The API server runs each request as a dry run, which shows missing permissions.]
  diff_mode:
    support: full
"""

EXAMPLES = r"""
- name: Deploy the agent without enabling it
  volcano.colocation.agent_deploy:
    kubeconfig: ~/.kube/config
    nodes: "{{ ansible_play_hosts_all }}"
    label_nodes: false
    features: [OverSubscription, Eviction, Resources, CPUBurst]
    watermarks:
      cpu_high: 70
      cpu_low: 40
  delegate_to: localhost
  become: false
  run_once: true

- name: Enable the agent
  volcano.colocation.agent_deploy:
    kubeconfig: ~/.kube/config
    nodes: "{{ ansible_play_hosts_all }}"
    step: labels
    label_nodes: true
  delegate_to: localhost
  become: false
  run_once: true
"""

RETURN = r"""
changes:
  description: The changes of objects, in order.
  returned: success
  type: list
  elements: str
pools:
  description: The pools of the hosts.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: Name of the pool, which is the value of the label C(colocation.volcano.sh/pool) of its Nodes.
      type: str
    hosts:
      description: Inventory names of its hosts.
      type: list
      elements: str
    cgroup:
      description: The cgroup version, V(v1) or V(v2).
      type: str
    cgroup_driver:
      description: The cgroup driver that its agent is configured with.
      type: str
    kube_cgroup_root:
      description: The cgroup root that its agent is configured with, empty for the root of the hierarchy.
      type: str
    pods_cgroup:
      description: The cgroup in which its agent expects pods.
      type: str
    kubelet_root_dir:
      description: The C(--root-dir) of kubelet.
      type: str
    selinux:
      description: Whether SELinux is enforcing.
      type: bool
    features:
      description: The features of its agent.
      type: list
      elements: str
    unsupported:
      description: Requested features that its nodes do not support, each with the reason.
      type: list
      elements: dict
helm:
  description: Values for upstream's chart in C(chart_values), or in C(reason) why it cannot be used for these hosts.
  returned: success
  type: dict
pending:
  description: Changes of labels that need O(label_nodes=true).
  returned: success
  type: list
  elements: str
"""
