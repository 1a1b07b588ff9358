#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of node_table, which the action plugin with this name implements."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_table
short_description: Print the nodes of a play in one table (internal)
version_added: 0.1.0
description:
  - Prints one line for each node, the worst first, from the facts of M(volcano.colocation.node_facts) on the hosts.
    Prints nothing for a single node.
  - Runs only on the controller, once for all hosts. Internal to the playbooks of the collection.
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
  - volcano.colocation.report.filter
options:
  nodes:
    description: Names of hosts. A host without facts is shown as V(not looked at).
    type: list
    elements: str
    required: true
attributes:
  check_mode:
    support: full
    details: [The module never changes anything.]
  diff_mode:
    support: none
"""

EXAMPLES = r"""
- name: Print the table
  volcano.colocation.node_table:
    nodes: "{{ ansible_play_hosts_all }}"
  run_once: true
"""

RETURN = r"""
table:
  description: The printed table, empty for a single node.
  returned: success
  type: str
"""
