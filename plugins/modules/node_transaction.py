#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The module that carries a plan out on a node."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_transaction
short_description: Carry out a plan on a node, all of it or nothing (internal)
version_added: 0.1.0
description:
  - Carries out what M(volcano.colocation.kubelet_config), M(volcano.colocation.containerd_config) and
    M(volcano.colocation.node_align) have planned on the controller.
  - Internal to the collection. In check mode the action plugins call it to learn what was cut off, and whether a plan
    would be refused.
  - The work is done by an engine that is copied to C(/usr/local/lib/volcano-colocation) and runs as a transient systemd
    unit, C(volcano-colocation-ID.service). It goes on when the connection of Ansible breaks. Its journal, backups and
    answer are kept below C(/var/lib/volcano-colocation).
  - A transaction that was cut off by a power failure is undone at the next boot, before the container runtime and
    kubelet start, by the unit C(volcano-colocation-recover.service). That is there only while a transaction is open.
  - What was cut off in another way is undone, or finished, before anything else is done, by an engine in a unit of the
    same name. Where no systemd runs, as below a O(root), or where it starts no engine, it is undone inside the module.
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
options:
  action:
    description:
      - V(start) begins the transaction that O(plan) describes and waits for it. Repeated with the same plan it waits.
      - V(check) looks whether V(start) would refuse O(plan) before it touches anything. It changes nothing, and is the
        only one that works in check mode as well as without.
      - V(wait) goes on waiting for the transaction O(id).
      - V(recover) does with a transaction that was cut off what O(recover) says, if there is one.
    type: str
    choices: [start, check, wait, recover]
    default: start
  recover:
    description:
      - V(undo) puts the node back, V(finish) goes on from the step where it ended, V(stop) fails and says which step
        that was.
    type: str
    choices: [undo, finish, stop]
    default: undo
  plan:
    description: The plan as JSON text. Required for O(action=start) and O(action=check).
    type: str
  id:
    description: The id of a transaction, of letters, digits and dashes. Required for O(action=wait).
    type: str
  wait:
    description: How many seconds to wait for the end of the transaction before answering that it is at work.
    type: float
    default: 20
  root:
    description: Take every path below this folder, to prepare an image. Only files are written then.
    type: path
    default: /
attributes:
  check_mode:
    support: partial
    details: O(action=check) and O(recover=stop) only look; everything else is skipped.
  diff_mode:
    support: none
"""

EXAMPLES = r"""
- name: Go on waiting for a transaction, as the action plugins do
  volcano.colocation.node_transaction:
    action: wait
    id: 20261121T013455271828-1a2b3c4d
"""

RETURN = r"""
begun:
  description: False where O(action=wait) found no transaction of that id.
  returned: failure
  type: bool
transaction:
  description:
    - The answer of the transaction, or how far it is.
    - With O(action=check) its state is V(refused), with the reason, or V(none) where nothing speaks against the plan.
    - With O(action=recover) that of the transaction that was cut off; its state is V(none) where there was none.
      Where it was undone inside the module, the id and the end alone.
  returned: success
  type: dict
  contains:
    id:
      description: The id of the transaction.
      type: str
      returned: success
    state:
      description:
        - V(refused) means that nothing was touched, V(applying) that it is still at work.
        - V(rollback-failed) means that something is left to be done by hand; C(error.node) says what.
      type: str
      returned: success
      choices: [applying, committed, none, refused, rolled-back, rollback-failed]
    step:
      description: The step at work, or the one that failed.
      type: str
      returned: success
    steps:
      description: The steps so far with their durations.
      type: list
      elements: dict
      returned: success
    error:
      description: What went wrong in which step, and what the node is now.
      type: dict
      returned: success
    gate:
      description: What the checks of the health gate found.
      type: list
      elements: dict
      returned: success
    limit:
      description: Seconds after which systemd has ended an engine that hangs, counted from its start.
      type: float
      returned: while it is at work, once its steps have begun
    recovered:
      description:
        - The transaction that had been cut off and was undone first.
        - The one before, if it was undone while the node booted. C(to_prove) says what nobody has looked at since.
      type: dict
      returned: success
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.errors import ColocationError
from ..module_utils.host import Host
from ..module_utils.settings import reapply
from ..module_utils.state.plan_document import parse_plan
from ..module_utils.transaction import cli, launcher
from ..module_utils.transaction.recovery import RecoveryMode

ARGUMENTS = {
    "action": {"type": "str", "choices": ["start", "check", "wait", "recover"], "default": "start"},
    "recover": {"type": "str", "choices": [way.value for way in RecoveryMode], "default": RecoveryMode.UNDO.value},
    "plan": {"type": "str", "no_log": True},
    "id": {"type": "str"},
    "wait": {"type": "float", "default": 20.0},
    "root": {"type": "path", "default": "/"},
}
REQUIRED = [("action", "start", ["plan"]), ("action", "check", ["plan"]), ("action", "wait", ["id"])]
# The engine that is installed from this module's files begins there; naming it makes Ansible ship it.
ENGINE = (cli.main, reapply.main)
UNCHANGED = ("refused", "none")


def answer(parameters: dict[str, Any]) -> dict[str, Any]:
    """The transaction's answer for the module's parameters."""
    host = Host.below(parameters["root"])
    if parameters["action"] == "wait":
        return launcher.wait(host, parameters["id"], parameters["wait"])
    if parameters["action"] == "check":
        return launcher.check(host, parse_plan(parameters["plan"]))
    if parameters["action"] == "recover":
        return launcher.recover(host, RecoveryMode(parameters["recover"]), parameters["wait"]) or {"state": "none"}
    return launcher.start(host, parse_plan(parameters["plan"]), parameters["plan"], parameters["wait"])


def only_looks(parameters: dict[str, Any]) -> bool:
    """Whether nothing is changed by it."""
    return parameters["action"] == "check" or (parameters["action"], parameters["recover"]) == (
        "recover",
        RecoveryMode.STOP.value,
    )


def main() -> None:
    module = AnsibleModule(ARGUMENTS, required_if=REQUIRED, supports_check_mode=True)
    if module.check_mode and not only_looks(module.params):
        module.exit_json(skipped=True, msg="a transaction is not carried out in check mode")
    try:
        transaction = answer(module.params)
    except launcher.NoSuchTransaction as error:
        module.fail_json(msg=str(error), begun=False)
    except ColocationError as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=transaction["state"] not in UNCHANGED, transaction=transaction)


if __name__ == "__main__":
    main()
