# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The installed engine's command line, without qos, which is qos/reapply.py. It prints what was done and how long."""

from __future__ import annotations

import json
import os
import signal
import sys
from types import FrameType

from ..errors import ColocationError
from ..host import Host
from . import engine
from .node import Node
from .store import Store

USAGE = "usage: run ID | recover | qos"


class Request:
    """Whether somebody asked the process to end. Noted only: a signal never breaks into a file operation."""

    def __init__(self) -> None:
        self._asked = False

    def note(self, _number: int, _frame: FrameType | None) -> None:
        self._asked = True

    def heed(self) -> None:
        """Raise Stopped when it was."""
        if self._asked:
            raise engine.Stopped(
                "the transaction was asked to end (systemctl stop of its unit, or a shutdown of the node)",
                "Run this again",
            )


def main(argv: list[str]) -> int:
    """0 when there is an answer, whatever it is."""
    os.umask(0o077)
    request = Request()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, request.note)
    node = Node(Host("/"))
    if len(argv) == 2 and argv[0] == "run":
        answer = engine.execute(node, Store(node.host), argv[1], _report, request.heed)
        _report(f"{argv[1]}: {answer['state']}")
        return 0
    if argv == ["recover"]:
        return _recover(node)
    sys.stderr.write(USAGE + "\n")
    return 2


def _recover(node: Node) -> int:
    try:
        _report(json.dumps(engine.recover(node, Store(node.host), _report)))
    except ColocationError as error:
        _report(str(error))
        return 1
    return 0


def _report(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
