#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Take a snapshot of a node."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_snapshot
short_description: Take a snapshot of a node (internal)
version_added: 0.1.0
description:
  - Collects the evidence that M(volcano.colocation.node_facts) and M(volcano.colocation.node_align) interpret on the
    controller.
  - Internal to the collection. The result is compressed and contains unredacted file texts, including secrets. Use
    M(volcano.colocation.node_facts) for readable, redacted results.
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
options:
  root:
    description: Resolve all paths below this directory, to examine an image or a recorded tree.
    type: path
    default: /
  named_cgroups:
    description: Cgroups to look up in addition to those in kubelet's files, in the notation of kubelet's fields.
    type: list
    elements: str
    default: []
  kubeadm_patches:
    description: The directory of kubeadm's C(--patches), where patches of kubelet's configuration are read.
    type: path
attributes:
  check_mode:
    support: full
    details: [The module never changes anything.]
  diff_mode:
    support: none
"""

EXAMPLES = r"""
- name: Take a snapshot as the action plugins do
  volcano.colocation.node_snapshot:
  register: evidence
"""

RETURN = r"""
snapshot:
  description: The evidence, unredacted, as zlib-compressed JSON in base64.
  returned: success
  type: str
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.errors import ColocationError
from ..module_utils.host import Host
from ..module_utils.snapshot.collect import collect
from ..module_utils.snapshot.packing import pack

ARGUMENTS = {
    "root": {"type": "path", "default": "/"},
    "named_cgroups": {"type": "list", "elements": "str", "default": []},
    "kubeadm_patches": {"type": "path"},
}


def main() -> None:
    module = AnsibleModule(ARGUMENTS, supports_check_mode=True)
    try:
        parameters = module.params
        snapshot = collect(Host.below(parameters["root"]), parameters["named_cgroups"], parameters["kubeadm_patches"])
    except ColocationError as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=False, snapshot=pack(snapshot))


if __name__ == "__main__":
    main()
