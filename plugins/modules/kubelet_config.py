#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of kubelet_config, which the action plugin with this name implements."""

from __future__ import annotations

DOCUMENTATION = r"""
module: kubelet_config
short_description: Set fields of KubeletConfiguration
version_added: 0.1.0
description:
  - Changes kubelet's configuration where it differs. Only the lines of changed values are replaced. The settings are
    written to a drop-in if C(--config-dir) is in effect, else to the file of C(--config).
  - Deprecated flags that override a value of the profile are removed from the environment file that contains them.
  - Does not restart kubelet and does not move checkpoints. Use M(volcano.colocation.node_align) to do both safely.
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
  - volcano.colocation.attributes.action_group
  - volcano.colocation.kubelet_fields.driver
  - volcano.colocation.kubelet_fields
  - volcano.colocation.profile.kubelet
  - volcano.colocation.profile.root
  - volcano.colocation.recovery
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
"""

EXAMPLES = r"""
- name: Prepare kubelet in an image
  volcano.colocation.kubelet_config:
    root: /srv/image
    cgroup_driver: systemd
    cpu_manager_policy: static
    system_reserved:
      cpu: 500m
"""

RETURN = r"""
path:
  description: The file that the settings are written to.
  returned: success
  type: str
strategy:
  description: Where the settings are written, V(main-file), V(drop-in) or V(k3s-drop-in).
  returned: success
  type: str
paths:
  description: All files that may be changed. Beside a drop-in the main file, whose driver and policy agents parse.
  returned: success
  type: list
  elements: str
owner_instructions:
  description:
    - The settings for the tools that own kubelet's configuration on this node, so that their next run agrees
      with the profile. By owner, inventory variables, file texts by their location, and a note.
    - Empty if no owner is known.
  returned: success
  type: dict
unsupported:
  description: Requested settings that are not written on this node, such as a patch for a kubeadm without patches.
  returned: when a setting is unsupported
  type: list
  elements: dict
  contains:
    setting:
      description: The option.
      type: str
    reason:
      description: The reason.
      type: str
first_boot:
  description:
    - What the first boot of the image does with its files, one line for each action, in the order of the boot.
      The same in check mode.
    - The module also warns of a checkpoint of another policy in the image, with which kubelet would not start. It does
      not remove the checkpoint.
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
