#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of rubik_config, which the action plugin with this name implements."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rubik_config
short_description: Render rubik's configuration for hosts
version_added: 0.1.0
description:
  - rubik reads the cgroup driver only from its own configuration, with the default C(cgroupfs), and does not support
    cgroup v2. This module renders the configuration with the driver that kubelet has on the hosts.
  - Fails if hosts have cgroup v2, another system than openEuler 22.03 LTS or newer, an unknown driver, or different
    drivers, and names them.
  - Uses the results of M(volcano.colocation.node_facts) and M(volcano.colocation.agent_host_info), the latter
    registered as C(agent_host_info). It writes nothing; RV(config) is the text.
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
  - volcano.colocation.cluster.hosts
options:
  features:
    description: The features in rubik's C(enabledFeatures).
    type: list
    elements: str
    choices: [preemption, dynCache, ioLimit, ioCost, quotaBurst, quotaTurbo, psi]
    default: [preemption]
attributes:
  check_mode:
    support: full
    details: [The module never changes anything.]
  diff_mode:
    support: none
"""

EXAMPLES = r"""
- name: Render rubik's configuration
  volcano.colocation.rubik_config:
    nodes: "{{ ansible_play_hosts_all }}"
    features: [preemption, quotaTurbo]
  delegate_to: localhost
  become: false
  run_once: true
  register: rubik
"""

RETURN = r"""
config:
  description: Text of rubik's C(config.json).
  returned: success
  type: str
"""
