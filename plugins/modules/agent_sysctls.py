#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of agent_sysctls; the action plugin does the work."""

from __future__ import annotations

DOCUMENTATION = r"""
module: agent_sysctls
short_description: Set sysctls for the Volcano agent at each boot
version_added: 0.1.0
description:
  - Writes or removes C(/etc/sysctl.d/90-volcano-colocation-agent.conf) in a transaction. The node's ledger records the
    previous state, and M(volcano.colocation.node_restore) restores it.
  - Does not change the running kernel's values. Run C(sysctl --load) for that.
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
  - volcano.colocation.profile.root
  - volcano.colocation.recovery
options:
  sysctls:
    description: Names of the sysctls to set to 1 at boot. An empty list removes the file.
    type: list
    elements: str
    required: true
    aliases: [switches]
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
"""

EXAMPLES = r"""
- name: Enable the QoS level of memory at each boot
  volcano.colocation.agent_sysctls:
    sysctls: [vm.memcg_qos_enable]

- name: Remove the file, so that no sysctl is set at boot
  volcano.colocation.agent_sysctls:
    sysctls: []
"""

RETURN = r"""
path:
  description: Path of the file.
  returned: success
  type: str
  sample: /etc/sysctl.d/90-volcano-colocation-agent.conf
recovered:
  description: The interrupted transaction that was recovered before this one, with its C(id) and C(state).
  returned: when there was one
  type: dict
transaction:
  description: The transaction, when it was refused or rolled back.
  returned: failure
  type: dict
"""
