#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of node_table, which the action plugin with this name implements."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_table
short_description: Report the nodes of a play and write the reports (internal)
version_added: 0.1.0
description:
  - Prints a block for each of a few nodes, and one table for all of them, the worst first.
  - With more nodes than O(detailed_hosts), prints groups of nodes with the same verdict and findings, with a pattern
    for C(--limit). Its length does not depend on the number of nodes. With C(-v), prints all blocks and the table.
  - Runs only on the controller, once for all hosts, with variables of the hosts. Internal to the playbooks of the
    collection.
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
  - volcano.colocation.report.filter
  - volcano.colocation.report.details
options:
  nodes:
    description: Names of hosts. A host without facts is shown as V(not looked at).
    type: list
    elements: str
    required: true
  source:
    description:
      - The variables of the hosts with the facts. V(facts) is the result of M(volcano.colocation.node_facts).
      - V(observed) is the plan that the role C(node) registered; its pending changes and warnings are printed too.
      - V(aligned) is the result of the change that the role C(node) registered. Hosts without it are omitted. Of many
        hosts, only those that are not aligned are printed.
    type: str
    choices: [facts, observed, aligned]
    default: facts
  fleet_size:
    description: The number of hosts of the play, if O(nodes) is a batch of them.
    type: int
  directory:
    description:
      - The directory on the controller for one JSON report for each node (mode 0600), created with mode 0700 and a
        C(.gitignore) if it is missing. Lists of hosts that are too long for a pattern are written to C(limits) in it.
      - If it is not set, no file is written.
    type: path
attributes:
  check_mode:
    support: full
    details: [The reports are written in check mode too. The nodes are never changed.]
  diff_mode:
    support: none
"""

EXAMPLES = r"""
- name: Report the nodes
  volcano.colocation.node_table:
    nodes: "{{ ansible_play_hosts_all }}"
    directory: ./reports
  run_once: true
"""

RETURN = r"""
table:
  description: The printed table or groups, empty for a single node.
  returned: success
  type: str
"""
