#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of node_table; its work is done by the action plugin of the same name."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_table
short_description: Show the nodes of a play in one table, the worst first (internal)
version_added: 0.1.0
description:
  - Prints one line for each node, from the facts that M(volcano.colocation.node_facts) left on the hosts, and nothing
    for a single node.
  - Works on the controller only, once for all hosts. Internal to the playbooks of the collection.
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
  - volcano.colocation.report.filter
options:
  nodes:
    description: Names of hosts. One without facts is shown as not looked at.
    type: list
    elements: str
    required: true
attributes:
  check_mode:
    support: full
    details: [It never changes anything.]
  diff_mode:
    support: none
"""

EXAMPLES = r"""
- name: Sum up
  volcano.colocation.node_table:
    nodes: "{{ ansible_play_hosts_all }}"
  run_once: true
"""

RETURN = r"""
table:
  description: The table as it was printed, empty for a single node.
  returned: success
  type: str
"""
