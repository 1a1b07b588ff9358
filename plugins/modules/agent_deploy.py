#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of agent_deploy; the action plugin does the work."""

from __future__ import annotations

DOCUMENTATION = r"""
module: agent_deploy
short_description: Bring the Volcano agent to the nodes of a cluster, or take it away
version_added: 0.1.0
description:
  - Sorts the hosts of a play into pools of equal nodes, by what M(volcano.colocation.node_facts) and
    M(volcano.colocation.agent_host_info) found on them, and has one DaemonSet for each pool, configured with the
    cgroup driver and root, the paths and the features of its nodes.
  - Writes the agent's ConfigMap, its account and what it may do, and ColocationConfiguration objects. What others have
    written into the ConfigMap stays.
  - Runs once for all hosts of a play, on the controller. Nothing is written unless the kubeconfig is proven to lead to
    the cluster of these hosts, by the boot id or the machine id of each Node.
  - What cannot be done is refused before the first change, with every host or object by name.
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
options:
  kubeconfig:
    description: Path of a kubeconfig on the controller. Its user needs the verbs that docs/agent.md lists.
    type: path
  namespace:
    description: The namespace of the agent. It is made where it is not there, and never taken away.
    type: str
    default: volcano-system
  nodes:
    description: Names of the play's hosts, whose results are read.
    type: list
    elements: str
    required: true
  state:
    description:
      - V(present) makes and changes objects.
      - V(absent) takes away all that this module made, what an agent leaves on Nodes, and puts back the ConfigMap and
        the labels that were there before.
    type: str
    choices: [present, absent]
    default: present
  step:
    description:
      - V(objects) is everything but the labels that turn the agent on.
      - V(labels) sets C(volcano.sh/colocation) and C(volcano.sh/oversubscription), or takes away those that it set.
      - V(values) only returns the pools, and the values for upstream's chart. No API server is asked, so it does not
        matter whether the chart was installed already.
    type: str
    choices: [objects, labels, values]
    default: objects
  label_nodes:
    description:
      - Whether these labels may change. Once a Node has them the agent evicts offline pods there when watermarks are
        passed; when it loses them the agent evicts the pods that use oversubscribed resources.
      - Not set, a change that is needed is refused before the first one. V(false) leaves the labels and reports them as
        pending.
    type: bool
    aliases: [label]
  smoke_test:
    description:
      - Whether M(volcano.colocation.agent_smoke_test) is to follow. The verbs that it takes are asked for too then, so
        that one that is missing is named before the first change.
    type: bool
    default: false
    aliases: [probe]
  image:
    description: The agent's image. Its tag is the release, which decides what a node can have.
    type: str
    default: docker.io/volcanosh/vc-agent:v1.14.0
  version:
    description: The release in an image whose tag does not tell, such as V(v1.14.0).
    type: str
  pull_policy:
    description: When nodes ask the registry. V(Never) for images that are loaded onto the nodes.
    type: str
    choices: [Always, IfNotPresent, Never]
    default: IfNotPresent
  features:
    description:
      - The features that are wanted. Those that a pool's nodes do not serve are left off there, with the reason in
        RV(pools).
      - What is named is also enabled in the agent's configuration for the pool, and what is not is disabled.
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
    description: At which use of a node the agent evicts, and at which pods may come again. Not set, it stays as found.
    type: dict
    suboptions:
      cpu_high:
        description: Percent of the CPU from which offline pods are evicted, from 1 to 100. Upstream's default is 80.
        type: int
      cpu_low:
        description: Percent below which offline pods may come again, less than O(watermarks.cpu_high). Default 30.
        type: int
      memory_high:
        description: The same for memory. Upstream's default is 60.
        type: int
      memory_low:
        description: The same for memory. Upstream's default is 30.
        type: int
  throttling: &throttling
    description: How the feature C(CPUThrottle) limits BestEffort pods. Not set, it stays as found.
    type: dict
    suboptions:
      threshold:
        description: Percent of the allocatable CPU that they and all others may use together, from 1 to 100.
        type: int
      jitter_limit:
        description: By how many percent the limit has to change before it is written.
        type: int
      recover_limit:
        description: By how many percent the limit may grow at once.
        type: int
  oversubscription: &oversubscription
    description: What of idle resources is offered. Not set, it stays as found.
    type: dict
    suboptions:
      types:
        description: The resources.
        type: list
        elements: str
        choices: [cpu, memory]
  network: &network
    description: How the feature C(NetworkQoS) shares bandwidth. Not set, it stays as found.
    type: dict
    suboptions:
      online_watermark:
        description: Percent of the bandwidth of online pods from which offline pods get less, from 1 to 1000.
        type: int
      offline_low:
        description: Percent that offline pods get then, not more than O(network.offline_high).
        type: int
      offline_high:
        description: Percent that they get otherwise.
        type: int
      check_interval:
        description: Nanoseconds between two looks.
        type: int
  oversubscription_ratio:
    description: Percent of the idle resources that are offered, from 1 to 100.
    type: int
    default: 60
  include_system_usage:
    description: Whether the use of what is no pod counts.
    type: bool
    default: false
  pools:
    description:
      - Pools with settings of their own, which win over those for all. Hosts that are in none are sorted by what they
        are alone; a pool of different nodes gets a DaemonSet for each kind.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Part of the names of its DaemonSets.
        type: str
        required: true
      nodes:
        description: Hosts and groups of the inventory. No host may be in two pools.
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
      - Those that this module made and that are no longer named are taken away.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Its name.
        type: str
        required: true
      namespace:
        description: The namespace of the pods.
        type: str
        required: true
      selector:
        description: A label selector of the API, which chooses pods.
        type: dict
        required: true
      high_ratio:
        description: Percent of a container's memory limit from which it is throttled. V(100) never throttles.
        type: int
        default: 100
      low_ratio:
        description: Percent of its memory request that are taken last.
        type: int
        default: 0
      min_ratio:
        description: Percent of its memory request that are never taken.
        type: int
        default: 0
  tolerations:
    description: Of the agent's pods. It runs on the nodes of its pool only, so that by default no taint keeps it away.
    type: list
    elements: dict
    default: [{operator: Exists}]
  resources:
    description: Of the agent's containers. Without a request it would be one of the pods that it throttles.
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
    description: The port of its health and metrics on each node, from 1024 to 65535.
    type: int
    default: 3300
  verbosity:
    description: How much it logs, from 0 to 10.
    type: int
    default: 2
requirements:
  - the Python library kubernetes on the controller
attributes:
  check_mode:
    support: full
    details: [The API server carries out each request as a dry run, so that a missing permission shows.]
  diff_mode:
    support: full
"""

EXAMPLES = r"""
- name: Install the agent, without turning it on
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

- name: Turn it on
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
  description: What is written, object by object, in order.
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
      description: Its name, which is the value of the label C(colocation.volcano.sh/pool) of its Nodes.
      type: str
    hosts:
      description: Its hosts.
      type: list
      elements: str
    cgroup:
      description: V(v1) or V(v2).
      type: str
    cgroup_driver:
      description: The cgroup driver that its agent is configured with.
      type: str
    kube_cgroup_root:
      description: The cgroup root that its agent is configured with, empty for the top.
      type: str
    pods_cgroup:
      description: Where its agent looks for pods.
      type: str
    kubelet_root_dir:
      description: kubelet's C(--root-dir) there.
      type: str
    selinux:
      description: Whether SELinux enforces there.
      type: bool
    features:
      description: The features that its agent has.
      type: list
      elements: str
    unsupported:
      description: Features that were wanted and that it does not have, each with the reason.
      type: list
      elements: dict
helm:
  description: Values for upstream's chart in C(chart_values), or in C(reason) why it will not do for these hosts.
  returned: success
  type: dict
pending:
  description: Labels that wait for O(label_nodes).
  returned: success
  type: list
  elements: str
"""
