#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of rollout_table, which the action plugin with this name implements."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rollout_table
short_description: Print the progress of a rollout (internal)
version_added: 0.1.0
description:
  - Prints the result of each node so far, the worst first, and the number of nodes that were not touched.
  - Runs only on the controller, with variables that the roles have registered for the hosts. Internal to the playbook
    C(provision).
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
  - volcano.colocation.report.details
options:
  nodes:
    description: Names of the hosts of the rollout.
    type: list
    elements: str
    required: true
  failed:
    description: Reasons for failures by host name. The reason in a registered result takes precedence.
    type: dict
    default: {}
attributes:
  check_mode:
    support: full
    details: [The module never changes anything.]
  diff_mode:
    support: none
"""

EXAMPLES = r"""
- name: Print the table
  volcano.colocation.rollout_table:
    nodes: "{{ ansible_play_hosts_all }}"
  run_once: true
"""

RETURN = r"""
table:
  description: The printed table, empty without nodes.
  returned: success
  type: str
"""
