#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Apply a plan on a node."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_transaction
short_description: Apply a plan to a node in one transaction (internal)
version_added: 0.1.0
description:
  - Applies the plans that M(volcano.colocation.kubelet_config), M(volcano.colocation.containerd_config) and
    M(volcano.colocation.node_align) make on the controller.
  - Internal to the collection. In check mode the action plugins call it to detect interrupted transactions, and to
    check whether a plan would be refused.
  - The plan is applied by an engine that is copied to C(/usr/local/lib/volcano-colocation) and runs as a transient
    systemd unit, C(volcano-colocation-ID.service). It continues if Ansible's connection is lost. Its journal, backups
    and result are kept below C(/var/lib/volcano-colocation).
  - A transaction that was interrupted by a power failure is rolled back at the next boot, before the container runtime
    and kubelet start, by the unit C(volcano-colocation-recover.service). This unit exists only while a transaction is
    open.
  - A transaction that was interrupted in another way is rolled back or finished before anything else, by an engine in a
    unit with the same name. Without systemd, as below a O(root), or if systemd cannot start the engine, it is rolled
    back inside the module.
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
options:
  action:
    description:
      - V(start) starts the transaction in O(plan) and waits for it. If repeated with the same plan, it only waits.
      - V(check) checks whether V(start) would refuse O(plan). It changes nothing, and is the only action that works the
        same in check mode and without.
      - V(wait) continues waiting for the transaction O(id).
      - V(recover) recovers an interrupted transaction, if there is one, as set by O(recover).
    type: str
    choices: [start, check, wait, recover]
    default: start
  recover:
    description:
      - V(undo) rolls the transaction back, V(finish) continues from the step at which it was interrupted, V(stop) fails
        and reports that step.
    type: str
    choices: [undo, finish, stop]
    default: undo
  plan:
    description: The plan as JSON text. Required for O(action=start) and O(action=check).
    type: str
  id:
    description: The ID of a transaction (letters, digits and dashes). Required for O(action=wait).
    type: str
  wait:
    description: Seconds to wait for the end of the transaction before the module returns that it is running.
    type: float
    default: 20
  root:
    description: Resolve all paths below this directory, to prepare an image. Then only files are written.
    type: path
    default: /
attributes:
  check_mode:
    support: partial
    details: O(action=check) and O(recover=stop) only read; other actions are skipped.
  diff_mode:
    support: none
"""

EXAMPLES = r"""
- name: Continue waiting for a transaction, as the action plugins do
  volcano.colocation.node_transaction:
    action: wait
    id: 20261121T013455271828-1a2b3c4d
"""

RETURN = r"""
begun:
  description: False if O(action=wait) found no transaction with this ID.
  returned: failure
  type: bool
transaction:
  description:
    - The result of the transaction, or its progress.
    - With O(action=check) the state is V(refused), with the reason, or V(none) if the plan would not be refused.
    - With O(action=recover) the result of the interrupted transaction; the state is V(none) if there was none. If it
      was rolled back inside the module, only ID and end state.
  returned: success
  type: dict
  contains:
    id:
      description: The ID of the transaction.
      type: str
      returned: success
    state:
      description:
        - V(refused) means that nothing was changed, V(applying) that the transaction is still running.
        - V(rollback-failed) means that the node must be repaired by hand; C(error.node) explains how.
      type: str
      returned: success
      choices: [applying, committed, none, refused, rolled-back, rollback-failed]
    step:
      description: The current step, or the step that failed.
      type: str
      returned: success
    steps:
      description: The steps so far with their durations.
      type: list
      elements: dict
      returned: success
    error:
      description: The failed step, the cause, and the node's state.
      type: dict
      returned: success
    gate:
      description: The results of the checks of the health gate.
      type: list
      elements: dict
      returned: success
    limit:
      description: Seconds from its start after which systemd kills a hanging engine.
      type: float
      returned: while the transaction is running, after its first step began
    recovered:
      description:
        - The interrupted transaction that was rolled back first.
        - The previous transaction, if it was rolled back at boot. C(to_prove) lists checks that have not passed since.
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
    "recover": {"type": "str", "choices": [mode.value for mode in RecoveryMode], "default": RecoveryMode.UNDO.value},
    "plan": {"type": "str", "no_log": True},
    "id": {"type": "str"},
    "wait": {"type": "float", "default": 20.0},
    "root": {"type": "path", "default": "/"},
}
REQUIRED = [("action", "start", ["plan"]), ("action", "check", ["plan"]), ("action", "wait", ["id"])]
# Entry points of the engine that is installed from this module's files; naming them makes Ansible ship it.
ENGINE = (cli.main, reapply.main)
UNCHANGED = ("refused", "none")


def execute(parameters: dict[str, Any]) -> dict[str, Any]:
    """Perform the module's action; the result of the transaction."""
    host = Host.below(parameters["root"])
    if parameters["action"] == "wait":
        return launcher.wait(host, parameters["id"], parameters["wait"])
    if parameters["action"] == "check":
        return launcher.check(host, parse_plan(parameters["plan"]))
    if parameters["action"] == "recover":
        return launcher.recover(host, RecoveryMode(parameters["recover"]), parameters["wait"]) or {"state": "none"}
    return launcher.start(host, parse_plan(parameters["plan"]), parameters["plan"], parameters["wait"])


def is_read_only(parameters: dict[str, Any]) -> bool:
    """Whether the action changes nothing."""
    return parameters["action"] == "check" or (parameters["action"], parameters["recover"]) == (
        "recover",
        RecoveryMode.STOP.value,
    )


def main() -> None:
    module = AnsibleModule(ARGUMENTS, required_if=REQUIRED, supports_check_mode=True)
    if module.check_mode and not is_read_only(module.params):
        module.exit_json(skipped=True, msg="a transaction is not applied in check mode")
    try:
        transaction = execute(module.params)
    except launcher.NoSuchTransaction as error:
        module.fail_json(msg=str(error), begun=False)
    except ColocationError as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=transaction["state"] not in UNCHANGED, transaction=transaction)


if __name__ == "__main__":
    main()
