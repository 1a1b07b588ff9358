#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of node_replay, which the action plugin with this name implements."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_replay
short_description: Assess recorded snapshots without access to the nodes
version_added: 0.1.0
description:
  - Interprets all snapshots in a directory as M(volcano.colocation.node_facts) does, and writes a JSON report for each.
  - Prints a text report for each of a few nodes and one table. With more nodes than O(detailed_hosts), prints groups of
    nodes with the same verdict and findings.
  - Runs only on the controller, one file after the other, without access to nodes.
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
  - volcano.colocation.attributes.action_group
  - volcano.colocation.profile.defaults
  - volcano.colocation.profile.judgement
  - volcano.colocation.kubelet_fields.driver
  - volcano.colocation.kubelet_fields
  - volcano.colocation.profile.kubelet
  - volcano.colocation.profile.runtime
  - volcano.colocation.profile.containerd
  - volcano.colocation.report.filter
  - volcano.colocation.report.failure
  - volcano.colocation.report.details
  - volcano.colocation.targets
options:
  report_directory:
    description:
      - The directory for the JSON reports (mode 0600), created with mode 0700 and a C(.gitignore) if it is missing.
      - If it is not set, no report is written.
    type: path
    aliases: [report_folder]
  snapshots:
    description:
      - A directory of snapshots from O(volcano.colocation.node_facts#module:snapshot_directory), or one such file.
      - All files whose names end with C(.json) are read. The file name without C(.snapshot.json) is the node's name.
    type: path
    required: true
attributes:
  check_mode:
    support: full
    details: [Reports are written in check mode too. Nodes are never changed.]
  diff_mode:
    support: none
"""

EXAMPLES = r"""
- name: Assess recorded snapshots and fail on errors
  volcano.colocation.node_replay:
    snapshots: ./snapshots
    fail_severities: [error]
  delegate_to: localhost
"""

RETURN = r"""
failing:
  description: The codes of findings that are failures, by node.
  returned: failure
  type: dict
nodes:
  description: The number of snapshots that were read.
  returned: success
  type: int
table:
  description: The printed table or groups, empty for a single snapshot.
  returned: success
  type: str
"""
