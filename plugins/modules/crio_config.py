#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of crio_config, which the action plugin with this name implements."""

from __future__ import annotations

DOCUMENTATION = r"""
module: crio_config
short_description: Set CRI-O's cgroup manager, conmon cgroup and NRI
version_added: 0.1.0
description:
  - Writes settings that differ to C(99-volcano-colocation.conf) in CRI-O's drop-in directory. Other files and other
    lines of this file are not changed.
  - Writes C(conmon_cgroup) if CRI-O would otherwise not start with the desired cgroup manager. The field is deprecated,
    but C(monitor_cgroup) of a handler in a drop-in would replace the handler's whole table.
  - Before the file is written, the node's C(crio config) reads the new text.
  - A node is refused, and nothing is written, if its command line or a later drop-in overrides the new file.
  - Does not restart CRI-O. Use M(volcano.colocation.node_align) for a safe restart.
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
  - volcano.colocation.attributes.action_group
  - volcano.colocation.kubelet_fields.driver
  - volcano.colocation.profile.runtime
  - volcano.colocation.profile.root
  - volcano.colocation.recovery
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
"""

EXAMPLES = r"""
- name: Prepare CRI-O in an image
  volcano.colocation.crio_config:
    root: /srv/image
    cgroup_driver: systemd
    nri:
      enabled: true
"""

RETURN = r"""
path:
  description: The drop-in for the settings, whether or not it exists.
  returned: success
  type: str
strategy:
  description: Where the settings are written, always V(drop-in).
  returned: success
  type: str
first_boot:
  description:
    - What the first boot of the image does with its files, one line for each action, in the order of the boot.
      The same in check mode.
  returned: with O(root)
  type: list
  elements: str
restart_required:
  description: Whether the running service needs a restart to apply the settings.
  returned: success
  type: bool
drain_required:
  description: Whether the node must be drained for that restart.
  returned: success
  type: bool
checkpoints_to_reset:
  description: Checkpoints that must be moved away while kubelet is stopped, otherwise kubelet does not start.
  returned: success
  type: list
  elements: str
unsupported:
  description: Requested settings that this node does not support, skipped because of O(nri.unsupported=skip).
  returned: success
  type: list
  elements: dict
  contains:
    setting:
      description: The setting that was skipped.
      type: str
    reason:
      description: The reason.
      type: str
transaction:
  description: The transaction that did not commit, with its steps.
  returned: failure of a transaction
  type: dict
recovered:
  description: The ID and the end state of an earlier interrupted transaction that was recovered, see O(recover).
  returned: when a transaction was recovered
  type: dict
usage:
  description: Cost of the task.
  returned: success
  type: dict
  contains:
    module_executions:
      description: Number of module runs on the node, without polls.
      type: int
    polls:
      description: Number of times that the node was polled for progress.
      type: int
    planning_ms:
      description: CPU time of the controller for facts and plan in milliseconds.
      type: float
    program_seconds:
      description: Run time of C(kubelet --version), C(crio --version) and the like on the node, in seconds.
      type: float
"""
