#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of node_restore, which the action plugin with this name implements."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_restore
short_description: Restore what the collection changed on a node
version_added: 0.1.0
description:
  - Restores the state from before the first change of the collection, which is recorded in the node's ledger. Files get
    their previous content, mode, owner and SELinux context. Files that did not exist are removed.
  - Files of kubelet and the runtime are restored in one transaction, with the same restarts, health gate and rollback
    as in M(volcano.colocation.node_align). The transaction commits completely or is rolled back.
  - Changes of other programs or users are never overwritten. Such a node is refused, and the result shows the
    difference. Sections without a conflict can be restored by naming them in O(sections).
  - When everything is restored, C(/var/lib/volcano-colocation) and C(/usr/local/lib/volcano-colocation) are removed.
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
      - The sections to restore. V(kubelet) and V(runtime) are configuration files, V(sysctl) is the file of sysctls for
        the Volcano agent, V(slices) are the files of M(volcano.colocation.systemd_slice), V(qos) are the settings that
        M(volcano.colocation.cgroup_qos) has recorded.
      - QoS settings are restored first, then kubelet and the runtime together, then slices, which kubelet may use.
    type: list
    elements: str
    choices: [kubelet, runtime, sysctl, slices, qos]
    default: [kubelet, runtime, sysctl, slices, qos]
  root:
    description:
      - Resolve all paths below this directory, to restore an image that was prepared with O(root) of other modules.
        Then only files are written. Symbolic links are resolved inside this directory, as with C(chroot).
    type: path
    default: /
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
"""

EXAMPLES = r"""
- name: Restore everything and allow stopping pods
  volcano.colocation.node_restore:
    allow_disruption: true

- name: Restore only the settings of cgroups
  volcano.colocation.node_restore:
    sections: [qos]
"""

RETURN = r"""
changes:
  description: The restored items in order, with their impact.
  returned: always
  type: list
  elements: dict
  contains:
    section:
      description: One of O(sections), or V(collection) for the collection's own files on the node.
      type: str
    target:
      description: The file, the slice, the cgroup with its setting, or the directory.
      type: str
    action:
      description: The action on the target.
      type: str
    reason:
      description: The reason.
      type: str
    impact:
      description: What the action requires, such as V(restart kubelet) and V(drain).
      type: list
      elements: str
  sample:
    - section: kubelet
      target: /var/lib/kubelet/config.yaml
      action: restore
      reason: it was different before the collection
      impact: [drain, restart kubelet]
pending:
  description: Items that are postponed because they would stop pods, with O(allow_disruption=false).
  returned: always
  type: list
  elements: dict
conflicts:
  description: Conflicts because of which nothing was restored, with redacted differences.
  returned: always
  type: list
  elements: dict
permission:
  description:
    - The permission that the restore still needs, with C(section), C(target), C(reason) and C(remedy). Null if none is
      needed.
    - Check mode then shows the whole restore; without check mode the module fails.
  returned: always
  type: dict
notes:
  description: Notes on items that are not restored, and on the node's state afterwards.
  returned: always
  type: list
  elements: str
transaction:
  description: State, steps with their times, checks of the health gate, and the error if there was one.
  returned: when files were restored or should have been
  type: dict
usage:
  description: Cost of the task, as in M(volcano.colocation.node_align).
  returned: success
  type: dict
"""
