#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of containerd_config; its work is done by the action plugin of the same name."""

from __future__ import annotations

DOCUMENTATION = r"""
module: containerd_config
short_description: Set containerd's cgroup driver and NRI, leaving every other line alone
version_added: 0.1.0
description:
  - Changes containerd's configuration where it differs, by replacing only the lines of the changed values. Every
    handler of runc type gets the same driver. A CRI plugin that C(disabled_plugins) switches off is taken out of it.
  - The schema version of a file is never changed.
  - The new files are read by the node's own C(containerd config dump) before they are written. It has to show the new
    values, and every other value as it was.
  - Does not restart containerd. M(volcano.colocation.node_align) does, safely.
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
  - volcano.colocation.attributes.action_group
  - volcano.colocation.kubelet_fields.driver
  - volcano.colocation.profile.runtime
  - volcano.colocation.profile.containerd
  - volcano.colocation.profile.root
  - volcano.colocation.recovery
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
"""

EXAMPLES = r"""
- name: Prepare containerd in an image
  volcano.colocation.containerd_config:
    root: /srv/image
    cgroup_driver: systemd
"""

RETURN = r"""
path:
  description: The file that handlers' settings are written to; the diff names every file.
  returned: success
  type: str
strategy:
  description:
    - How the settings are kept, V(main-file) or V(drop-in). See O(containerd_strategy).
    - Where K3s or RKE2 renders containerd's file at each start, V(drop-in) in the folder that the file imports, else
      V(template). See docs/crio.md of this collection.
    - With V(main-file) before containerd 2.0, RV(path) is an imported file where such a file replaces the main one's
      settings.
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
      description: Time the node's own programs took, kubelet and containerd telling their versions, in seconds.
      type: float
"""
