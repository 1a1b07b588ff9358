#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of rollout_table; its work is done by the action plugin of the same name."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rollout_table
short_description: Show where a rollout stands (internal)
version_added: 0.1.0
description:
  - Prints what became of each node so far, the worst first, and how many were not touched.
  - Works on the controller only, on what the roles have registered of the hosts. Internal to the playbook C(provision).
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
options:
  nodes:
    description: Names of the hosts of the rollout.
    type: list
    elements: str
    required: true
  failed:
    description: Why hosts have failed, by their names; what a result that they registered tells comes first.
    type: dict
    default: {}
attributes:
  check_mode:
    support: full
    details: [It never changes anything.]
  diff_mode:
    support: none
"""

EXAMPLES = r"""
- name: Sum up
  volcano.colocation.rollout_table:
    nodes: "{{ ansible_play_hosts_all }}"
  run_once: true
"""

RETURN = r"""
table:
  description: The table as it was printed, empty without nodes.
  returned: success
  type: str
"""
