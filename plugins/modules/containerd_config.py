#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of containerd_config, which the action plugin with this name implements."""

from __future__ import annotations

DOCUMENTATION = r"""
module: containerd_config
short_description: Set containerd's cgroup driver and NRI
version_added: 0.1.0
description:
  - Changes containerd's configuration where it differs. Only the lines of changed values are replaced. All handlers of
    runc type get the same driver. If C(disabled_plugins) contains the CRI plugin, it is removed from that list.
  - The schema version of a file is never changed.
  - Before the files are written, the node's C(containerd config dump) reads the new texts. It must show the new values,
    and all other values unchanged.
  - Does not restart containerd. Use M(volcano.colocation.node_align) for a safe restart.
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
  description: The file that the handlers' settings are written to. The diff lists all files.
  returned: success
  type: str
strategy:
  description:
    - Where the settings are written, V(main-file) or V(drop-in). See O(containerd_strategy).
    - If K3s or RKE2 renders containerd's file at each start, V(drop-in) in the directory that the file imports, else
      V(template). See docs/runtimes.md of this collection.
    - With V(main-file) before containerd 2.0, RV(path) is an imported file if that file replaces settings of the main
      file.
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
      description: Run time of C(kubelet --version), C(containerd --version) and the like on the node, in seconds.
      type: float
"""
