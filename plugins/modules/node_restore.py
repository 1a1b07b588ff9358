#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of node_restore; its work is done by the action plugin of the same name."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_restore
short_description: Put back everything the collection ever changed on a node
version_added: 0.1.0
description:
  - Puts back what the ledger of the node says was there before the collection first touched it. Files get their bytes,
    mode, owner and SELinux context again; files that were not there are removed.
  - Files of kubelet and the runtime are put back in one transaction, as M(volcano.colocation.node_align) writes them,
    with the same restarts, health gate and roll-back. It ends restored, or exactly as it began.
  - What somebody else has changed since is never overwritten. The node is refused then, with the difference; sections
    without a conflict can be put back by naming them in O(sections).
  - When nothing is left to be put back, C(/var/lib/volcano-colocation) and C(/usr/local/lib/volcano-colocation) are
    removed.
  - A node with nothing to restore costs one module execution.
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
  - volcano.colocation.disruption
options:
  sections:
    description:
      - What is put back. V(kubelet) and V(runtime) are configuration files, V(slices) is what
        M(volcano.colocation.systemd_slice) keeps, V(qos) is what M(volcano.colocation.cgroup_qos) has recorded.
      - Settings of QoS come first, then kubelet and the runtime together, then slices, which kubelet may name.
    type: list
    elements: str
    choices: [kubelet, runtime, sysctl, slices, qos]
    default: [kubelet, runtime, sysctl, slices, qos]
  root:
    description:
      - Take every path below this folder, to put an image back that was prepared with O(root) of other modules.
        Only files are written then. Symbolic links are resolved inside this folder, as C(chroot) does it.
    type: path
    default: /
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
"""

EXAMPLES = r"""
- name: Put everything back, pods may be stopped
  volcano.colocation.node_restore:
    allow_disruption: true

- name: Put back the settings of cgroups and nothing else
  volcano.colocation.node_restore:
    sections: [qos]
"""

RETURN = r"""
changes:
  description: What is put back, in this order, and what that takes.
  returned: always
  type: list
  elements: dict
  contains:
    section:
      description: One of O(sections), or V(collection) for what the collection keeps on the node for itself.
      type: str
    target:
      description: The file, the slice, the cgroup with its setting, or the folder.
      type: str
    action:
      description: What is done to it.
      type: str
    reason:
      description: Why.
      type: str
    impact:
      description: What that takes, such as V(restart kubelet) and V(drain).
      type: list
      elements: str
  sample:
    - section: kubelet
      target: /var/lib/kubelet/config.yaml
      action: restore
      reason: it was different before the collection
      impact: [drain, restart kubelet]
pending:
  description: What is left because it would disturb pods, as O(allow_disruption=false) says.
  returned: always
  type: list
  elements: dict
conflicts:
  description: Why nothing was done, with the difference that somebody else made, redacted.
  returned: always
  type: list
  elements: dict
permission:
  description:
    - Which permission the restore still needs, with C(section), C(target), C(reason) and C(remedy); none if it has all.
    - Check mode then shows the whole restore; without check mode the module fails.
  returned: always
  type: dict
notes:
  description: What is not put back, and what the node will be.
  returned: always
  type: list
  elements: str
transaction:
  description: State, steps with their times, checks of the health gate, and the error if there was one.
  returned: when files were put back or should have been
  type: dict
usage:
  description: What the task cost, as of M(volcano.colocation.node_align).
  returned: success
  type: dict
"""
