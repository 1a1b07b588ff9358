#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of node_report, which the action plugin with this name implements."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_report
short_description: Print a node's report and write it as JSON (internal)
version_added: 0.1.0
description:
  - Runs only on the controller, for one node. Internal to the collection, whose playbooks use
    M(volcano.colocation.node_table), which reports all nodes of a play in one task.
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
  - volcano.colocation.report.filter
  - volcano.colocation.report.failure
options:
  facts:
    description: The facts document of M(volcano.colocation.node_facts).
    type: dict
    required: true
  directory:
    description:
      - The directory on the controller for the file (mode 0600), created with mode 0700 if it is missing.
      - If it is not set, no file is written.
    type: path
    aliases: [folder]
  name:
    description: Name of the file in O(directory), without C(.json).
    type: str
    required: true
attributes:
  check_mode:
    support: full
    details: [The report is written in check mode too. The node is never changed.]
  diff_mode:
    support: none
"""

EXAMPLES = r"""
- name: Show the node
  volcano.colocation.node_report:
    facts: "{{ colocation }}"
    name: "{{ inventory_hostname }}"
    directory: ./reports
"""

RETURN = r"""
failing:
  description: The codes of the findings that are failures.
  returned: success
  type: list
  elements: str
path:
  description: The file that was written.
  returned: when O(directory) is set
  type: str
report:
  description: The text report.
  returned: success
  type: str
"""
