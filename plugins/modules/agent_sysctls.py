#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of agent_sysctls; its work is done by the action plugin of the same name."""

from __future__ import annotations

DOCUMENTATION = r"""
module: agent_sysctls
short_description: Set sysctls for the Volcano agent at each boot
version_added: 0.1.0
description:
  - Writes C(/etc/sysctl.d/90-volcano-colocation-agent.conf), or removes it, by a transaction. The ledger of the node
    remembers what was there before, and M(volcano.colocation.node_restore) puts it back.
  - The values that the kernel has now are left to the caller.
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
  - volcano.colocation.profile.root
  - volcano.colocation.recovery
options:
  sysctls:
    description: Names of the sysctls that are 1 from now on. An empty list removes the file.
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
- name: Keep the QoS level of memory on
  volcano.colocation.agent_sysctls:
    sysctls: [vm.memcg_qos_enable]

- name: Remove the file, so that none is switched on at boot
  volcano.colocation.agent_sysctls:
    sysctls: []
"""

RETURN = r"""
path:
  description: The file.
  returned: success
  type: str
  sample: /etc/sysctl.d/90-volcano-colocation-agent.conf
recovered:
  description: The transaction that had been cut off and was settled before this one, with its C(id) and C(state).
  returned: when there was one
  type: dict
transaction:
  description: The transaction, when it was refused or rolled back.
  returned: failure
  type: dict
"""
