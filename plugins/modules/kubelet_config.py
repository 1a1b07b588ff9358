#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of kubelet_config; its work is done by the action plugin of the same name."""

from __future__ import annotations

DOCUMENTATION = r"""
module: kubelet_config
short_description: Set fields of KubeletConfiguration, leaving every other line alone
version_added: 0.1.0
description:
  - Changes kubelet's configuration where it differs, by replacing only the lines of the changed values. It goes to a
    drop-in where C(--config-dir) is in force, else to the file of C(--config).
  - Deprecated flags that beat a value of the profile are taken out of the environment file that holds them.
  - Does not restart kubelet and moves no checkpoint. M(volcano.colocation.node_align) does both, safely.
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
  description: The file that holds the settings.
  returned: success
  type: str
strategy:
  description: How the settings are kept, V(main-file), V(drop-in) or V(k3s-drop-in).
  returned: success
  type: str
paths:
  description: All files that may be changed; beside a drop-in the main file, whose driver and policy agents parse.
  returned: success
  type: list
  elements: str
owner_instructions:
  description:
    - The settings to give to the tools that own kubelet's configuration on this node, so that their next run agrees
      with the profile. By the name of each owner, inventory variables, texts by the place they belong to, and a note.
    - Empty where no owner is known.
  returned: success
  type: dict
unsupported:
  description: What was asked for and is not written on this node, such as a patch for a kubeadm that reads none.
  returned: when there is something
  type: list
  elements: dict
  contains:
    setting:
      description: The option.
      type: str
    reason:
      description: Why not.
      type: str
first_boot:
  description:
    - What the first boot of the image does with its files, a line each, in the order of the boot.
      The same in check mode.
    - A checkpoint of another policy in the image, with which kubelet would not start, is warned of as well. It is not
      removed.
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
