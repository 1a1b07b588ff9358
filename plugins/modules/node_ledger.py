#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Report what can be restored on a node, and restore what needs no transaction."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_ledger
short_description: Show and restore changes of the collection (internal)
version_added: 0.1.0
description:
  - The part of M(volcano.colocation.node_restore) that runs on the node.
  - Internal to the collection. M(volcano.colocation.node_transaction) restores files of kubelet and the runtime.
  - The result contains unredacted file contents; action plugins redact what they show.
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
options:
  action:
    description:
      - V(show) reports the content of the ledger and the state of the node without changing anything.
      - V(restore) restores O(sections).
    type: str
    choices: [show, restore]
    default: show
  sections:
    description: The sections to restore, in this order.
    type: list
    elements: str
    choices: [qos, slices]
    default: []
  clean:
    description: Whether to remove the collection's files on the node afterwards, if nothing remains to be restored.
    type: bool
    default: false
  root:
    description: Resolve all paths below this directory.
    type: path
    default: /
attributes:
  check_mode:
    support: full
    details: [Nothing is restored in check mode.]
  diff_mode:
    support: none
"""

EXAMPLES = r"""
- name: Read the evidence as the action plugin does
  volcano.colocation.node_ledger:
  register: evidence
"""

RETURN = r"""
evidence:
  description: The evidence, unredacted, as zlib-compressed JSON in base64.
  returned: with O(action=show)
  type: str
removed:
  description: The directories of the collection that were removed.
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
# The expected QoS unit depends on the engine's sources; naming the engine makes Ansible ship it.
ENGINE = (cli.main, reapply.main)


def restore(host: Host, parameters: dict[str, Any]) -> dict[str, Any]:
    """Restore the sections; the module's result."""
    changed = False
    if "qos" in parameters["sections"]:
        changed = any(setting.plan.changed for setting in recorded_settings.restore_settings(host, Clock()))
    if "slices" in parameters["sections"]:
        slices = managed_slices.find_slices(host)
        managed_slices.restore_slices(host, slices)
        changed = changed or bool(slices.slices or slices.strays)
    removed = cleanup.clean_up(host) if parameters["clean"] else []
    return {"changed": changed or bool(removed), "removed": removed}


def main() -> None:
    module = AnsibleModule(ARGUMENTS, supports_check_mode=True)
    try:
        host = Host.below(module.params["root"])
        if module.params["action"] == "show":
            result = {"changed": False, "evidence": pack(restore_evidence(host))}
        elif module.check_mode:
            result = {"changed": False, "removed": []}
        else:
            result = restore(host, module.params)
    except ColocationError as error:
        module.fail_json(msg=str(error))
    module.exit_json(**result)


if __name__ == "__main__":
    main()
