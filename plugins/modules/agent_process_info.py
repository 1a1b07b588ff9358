#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The module that reads the running process of the Volcano agent."""

from __future__ import annotations

DOCUMENTATION = r"""
module: agent_process_info
short_description: Read the process of the Volcano agent on a node (internal)
version_added: 0.1.0
description:
  - Finds the agent's process by the id of its container, and reads whether it sees the cgroup of pods and may write to
    cgroups.
  - Internal to the collection. M(volcano.colocation.agent_verify) returns its options. It does not fail if the agent
    cannot work; RV(reason) then says why.
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
options:
  root:
    description: Prefix of all paths, to examine a recorded tree.
    type: path
    default: /
  container:
    description: The id of the agent's container.
    type: str
    required: true
  cgroup:
    description: The cgroup of pods, below the root of a hierarchy.
    type: str
    required: true
  writes:
    description: Whether the agent has features that write to cgroups.
    type: bool
    default: true
attributes:
  check_mode:
    support: full
    details: [It never changes anything.]
  diff_mode:
    support: none
"""

EXAMPLES = r"""
- name: Read the agent's process
  volcano.colocation.agent_process_info:
    container: 2b1f6c1f1d0a1d3f4e5c6b7a8d9e0f1a2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d7e
    cgroup: kubepods.slice
"""

RETURN = r"""
reason:
  description: Why the agent cannot work, empty if nothing prevents it.
  returned: success
  type: str
user:
  description: The effective user id of the process.
  returned: if the process was found
  type: int
capabilities:
  description: The effective capabilities of the process, as in C(/proc/PID/status).
  returned: if the process was found
  type: str
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.agent.agent_process import find_process, problem
from ..module_utils.errors import ColocationError
from ..module_utils.host import Host
from ..module_utils.safe_text import printable, printable_result

ARGUMENTS = {
    "root": {"type": "path", "default": "/"},
    "container": {"type": "str", "required": True},
    "cgroup": {"type": "str", "required": True},
    "writes": {"type": "bool", "default": True},
}


def main() -> None:
    module = AnsibleModule(ARGUMENTS, supports_check_mode=True)
    options = module.params
    try:
        host = Host.below(options["root"])
        process = find_process(host, options["container"])
        reason = problem(host, process, options["cgroup"], writes=options["writes"])
    except ColocationError as error:
        module.fail_json(msg=printable(str(error)))
    facts = {"user": process.user, "capabilities": f"{process.capabilities:016x}"} if process else {}
    module.exit_json(**printable_result({"changed": False, "reason": reason, **facts}))


if __name__ == "__main__":
    main()
