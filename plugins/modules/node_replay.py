#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of node_replay; its work is done by the action plugin of the same name."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_replay
short_description: Tell what is true of recorded nodes, without reaching any
version_added: 0.1.0
description:
  - Interprets every snapshot in a folder as M(volcano.colocation.node_facts) does, prints a block for each and one
    table for all, and writes a JSON report for each.
  - Works on the controller only, one file after the other, and reaches no node.
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
  - volcano.colocation.targets
options:
  report_directory:
    description:
      - The directory for the JSON reports (mode 0600), made with mode 0700 if it is missing.
      - Without it none is written.
    type: path
    aliases: [report_folder]
  snapshots:
    description:
      - A directory of snapshots as O(volcano.colocation.node_facts#module:snapshot_directory) writes them, or one such
        file.
      - Every file whose name ends with C(.json) is read; a node is called what its file is called before
        C(.snapshot.json).
    type: path
    required: true
attributes:
  check_mode:
    support: full
    details: [Reports are written in check mode too; no node is ever touched.]
  diff_mode:
    support: none
"""

EXAMPLES = r"""
- name: Examine what was recorded, and fail on errors
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
  description: How many snapshots were read.
  returned: success
  type: int
table:
  description: The table as it was printed, empty for a single snapshot.
  returned: success
  type: str
"""
