#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The module that reads the properties of a node that a pod of the Volcano agent depends on."""

from __future__ import annotations

DOCUMENTATION = r"""
module: agent_host_info
short_description: Read facts of a node for the Volcano agent (internal)
version_added: 0.1.0
description:
  - Reads the node's identity, SELinux's mode, the distribution, and whether the directories that a pod of the agent
    mounts exist.
  - Internal to the collection. M(volcano.colocation.agent_deploy) uses its results.
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
options:
  root:
    description: Prefix of all paths, to examine an image or a recorded tree.
    type: path
    default: /
  paths:
    description: Absolute paths to check.
    type: list
    elements: str
    default: []
attributes:
  check_mode:
    support: full
    details: [It never changes anything.]
  diff_mode:
    support: none
"""

EXAMPLES = r"""
- name: Read the node
  volcano.colocation.agent_host_info:
    paths: [/opt/cni/bin]
  register: agent_host_info
"""

RETURN = r"""
host:
  description:
    - Names and hashed ids of the node, C(selinux) (C(enforcing), C(permissive), C(off)), C(os), the kernel's
      C(sysctls) that the agent sets to 1, and C(paths) with the kind of each.
  returned: success
  type: dict
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.agent.pod_probe import probe
from ..module_utils.errors import ColocationError
from ..module_utils.host import Host
from ..module_utils.safe_text import printable, printable_result

ARGUMENTS = {
    "root": {"type": "path", "default": "/"},
    "paths": {"type": "list", "elements": "str", "default": []},
}


def main() -> None:
    module = AnsibleModule(ARGUMENTS, supports_check_mode=True)
    try:
        host = probe(Host.below(module.params["root"]), module.params["paths"])
    except ColocationError as error:
        module.fail_json(msg=printable(str(error)))
    module.exit_json(**printable_result({"changed": False, "host": host}))


if __name__ == "__main__":
    main()
