#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The module that tells what can be put back on a node, and puts back what takes no transaction."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_ledger
short_description: Tell what the collection changed on a node, and put back QoS settings and slices (internal)
version_added: 0.1.0
description:
  - The half of M(volcano.colocation.node_restore) that runs on the node.
  - Internal to the collection. Files of kubelet and the runtime are put back by M(volcano.colocation.node_transaction).
  - The result holds file contents and is unredacted; action plugins redact what they show of it.
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
options:
  action:
    description:
      - V(show) tells what lies in the ledger and on the node, changing nothing.
      - V(restore) puts O(sections) back.
    type: str
    choices: [show, restore]
    default: show
  sections:
    description: What is put back, in this order.
    type: list
    elements: str
    choices: [qos, slices]
    default: []
  clean:
    description: Then remove what the collection keeps on the node for itself, if nothing is left to be put back.
    type: bool
    default: false
  root:
    description: Take every path below this folder.
    type: path
    default: /
attributes:
  check_mode:
    support: full
    details: [Nothing is put back then.]
  diff_mode:
    support: none
"""

EXAMPLES = r"""
- name: Look as the action plugin does
  volcano.colocation.node_ledger:
  register: evidence
"""

RETURN = r"""
evidence:
  description: The evidence, unredacted, as zlib-compressed JSON in base64.
  returned: with O(action=show)
  type: str
removed:
  description: The folders of the collection that were removed.
  returned: with O(action=restore)
  type: list
  elements: str
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.errors import ColocationError
from ..module_utils.host import Clock, Host
from ..module_utils.restore import cleanup, managed_slices, recorded_settings
from ..module_utils.restore.restorable import restore_evidence
from ..module_utils.settings import reapply
from ..module_utils.snapshot.packing import pack
from ..module_utils.transaction import cli

ARGUMENTS = {
    "action": {"type": "str", "choices": ["show", "restore"], "default": "show"},
    "sections": {"type": "list", "elements": "str", "choices": ["qos", "slices"], "default": []},
    "clean": {"type": "bool", "default": False},
    "root": {"type": "path", "default": "/"},
}
# Whether the unit of QoS is as it should be is told from the engine's sources; naming it makes Ansible ship it.
ENGINE = (cli.main, reapply.main)


def restore(host: Host, parameters: dict[str, Any]) -> dict[str, Any]:
    """What was done."""
    changed = False
    if "qos" in parameters["sections"]:
        changed = any(each.plan.changed for each in recorded_settings.restore_settings(host, Clock()))
    if "slices" in parameters["sections"]:
        wanted = managed_slices.find_slices(host)
        managed_slices.restore_slices(host, wanted)
        changed = changed or bool(wanted.slices or wanted.strays)
    removed = cleanup.clean_up(host) if parameters["clean"] else []
    return {"changed": changed or bool(removed), "removed": removed}


def main() -> None:
    module = AnsibleModule(ARGUMENTS, supports_check_mode=True)
    try:
        host = Host.below(module.params["root"])
        if module.params["action"] == "show":
            answer = {"changed": False, "evidence": pack(restore_evidence(host))}
        elif module.check_mode:
            answer = {"changed": False, "removed": []}
        else:
            answer = restore(host, module.params)
    except ColocationError as error:
        module.fail_json(msg=str(error))
    module.exit_json(**answer)


if __name__ == "__main__":
    main()
