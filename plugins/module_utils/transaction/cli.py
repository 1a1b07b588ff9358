# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line of the installed engine, except qos (settings/reapply.py). It prints each step and its duration."""

from __future__ import annotations

import json
import os
import signal
import sys
from types import FrameType

from ..cri.node_access import Node
from ..errors import ColocationError
from ..host import Host
from ..state import installed_engine
from ..state.store import Store
from . import boot_unit, recovery, runner

USAGE = f"usage: run ID | finish ID | undo ID | recover | {boot_unit.COMMAND} | qos"


class CancelRequest:
    """Records a request to end the process; a signal never interrupts a file operation."""

    def __init__(self) -> None:
        self._requested = False

    def record(self, _number: int, _frame: FrameType | None) -> None:
        self._requested = True

    def check_cancelled(self) -> None:
        """Raise Cancelled if the process was asked to end."""
        if self._requested:
            raise runner.Cancelled(
                "the transaction was asked to end (systemctl stop of its unit, or a shutdown of the node)",
                "Run this again",
            )


def main(argv: list[str]) -> int:
    """Exit status: 0 if the command has a result, also a failed one."""
    os.umask(0o077)
    request = CancelRequest()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, request.record)
    node = Node(Host("/"), engine=installed_engine.running_engine())
    try:
        return _execute_command(node, argv, request)
    except ColocationError as error:
        _report(str(error))
        return 1
    except boot_unit.DeferredToBoot:
        _report("the node is shutting down: the transaction is rolled back when it boots")
        return 0


def _execute_command(node: Node, argv: list[str], request: CancelRequest) -> int:
    store = Store(node.host)
    if len(argv) == 2 and argv[0] == "run":
        result = runner.execute(node, store, argv[1], _report, request.check_cancelled)
        _report(f"{argv[1]}: {result['state']}")
    elif len(argv) == 2 and argv[0] == "finish":
        _report(json.dumps(recovery.finish(node, store, argv[1], _report, request.check_cancelled)))
    elif len(argv) == 2 and argv[0] == "undo":
        _report(json.dumps(recovery.undo(node, store, argv[1], _report)))
    elif argv == ["recover"]:
        _report(json.dumps(runner.recover(node, store, _report)))
    elif argv == [boot_unit.COMMAND]:
        _report(json.dumps(runner.recover_at_boot(node, store, _report)))
    else:
        sys.stderr.write(USAGE + "\n")
        return 2
    return 0


def _report(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
