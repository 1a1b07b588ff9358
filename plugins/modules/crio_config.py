#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of crio_config; its work is done by the action plugin of the same name."""

from __future__ import annotations

DOCUMENTATION = r"""
module: crio_config
short_description: Set CRI-O's cgroup manager, its monitor's cgroup and NRI in a drop-in
version_added: 0.1.0
description:
  - Writes what differs into C(99-volcano-colocation.conf) in CRI-O's folder of drop-ins and touches no other file.
    Other lines of that file stay.
  - C(conmon_cgroup) is written where CRI-O would not start with the wanted cgroup manager. It is deprecated and written
    all the same, because a handler's C(monitor_cgroup) in a drop-in would take the place of the handler's whole table.
  - The new text is read by the node's own C(crio config) before it is written.
  - A node whose command line or later drop-in would win over the new file is refused, and nothing is written.
  - Does not restart CRI-O. M(volcano.colocation.node_align) does, safely.
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
  description: The drop-in that holds the settings, whether it is there yet or not.
  returned: success
  type: str
strategy:
  description: How the settings are kept; V(drop-in) always.
  returned: success
  type: str
first_boot:
  description:
    - What the first boot of the image does with its files, a line each, in the order of the boot.
      The same in check mode.
  returned: with O(root)
  type: list
  elements: str
restart_required:
  description: Whether a restart is needed before the running service has the settings.
  returned: success
  type: bool
drain_required:
  description: Whether pods have to be stopped for that restart.
  returned: success
  type: bool
checkpoints_to_reset:
  description: Checkpoints that have to be moved away while kubelet is stopped, or it will not start.
  returned: success
  type: list
  elements: str
unsupported:
  description: What was asked for and this node cannot have, skipped because O(nri.unsupported) says so.
  returned: success
  type: list
  elements: dict
  contains:
    setting:
      description: The setting that was skipped.
      type: str
    reason:
      description: Why.
      type: str
transaction:
  description: The transaction that did not commit, step by step.
  returned: failure of a transaction
  type: dict
recovered:
  description: The id and the end of an earlier transaction that had been cut off, which O(recover) is about.
  returned: when there was one
  type: dict
usage:
  description: What the task cost.
  returned: success
  type: dict
  contains:
    module_executions:
      description: Modules run on the node, polls apart.
      type: int
    polls:
      description: Times the node was asked how far it is.
      type: int
    planning_ms:
      description: CPU time of the controller for facts and plan, in milliseconds.
      type: float
    program_seconds:
      description: Time the node's own programs took, kubelet and the runtime telling their versions, in seconds.
      type: float
"""
