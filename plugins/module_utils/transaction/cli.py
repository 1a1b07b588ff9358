# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The installed engine's command line, without qos: settings/reapply.py. It prints what was done and how long."""

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
    """Whether somebody asked the process to end. Noted only: a signal never breaks into a file operation."""

    def __init__(self) -> None:
        self._asked = False

    def note(self, _number: int, _frame: FrameType | None) -> None:
        self._asked = True

    def check_cancelled(self) -> None:
        """Raise Stopped when it was."""
        if self._asked:
            raise runner.Cancelled(
                "the transaction was asked to end (systemctl stop of its unit, or a shutdown of the node)",
                "Run this again",
            )


def main(argv: list[str]) -> int:
    """0 when there is an answer, whatever it is."""
    os.umask(0o077)
    request = CancelRequest()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, request.note)
    node = Node(Host("/"), engine=installed_engine.running_engine())
    try:
        return _execute_command(node, argv, request)
    except ColocationError as error:
        _report(str(error))
        return 1
    except boot_unit.DeferredToBoot:
        _report("the node goes down: what was begun is undone when it boots")
        return 0


def _execute_command(node: Node, argv: list[str], request: CancelRequest) -> int:
    store = Store(node.host)
    if len(argv) == 2 and argv[0] == "run":
        answer = runner.execute(node, store, argv[1], _report, request.check_cancelled)
        _report(f"{argv[1]}: {answer['state']}")
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
