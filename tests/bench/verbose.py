# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Counts module executions in Ansible's output under -vvv, independently of the collection's own count."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

# ansible-core, plugins/action/__init__.py, _configure_module: display.vvv("Using module file %s")
_MODULE = re.compile(r"^(?:<[^>]*> )?Using module file .*/(\w+)\.py$", re.MULTILINE)
# ansible-core, plugins/connection/ssh.py, _run: display.vvv('SSH: EXEC …', host=…)
_COMMAND = re.compile(r"^<[^>]*> SSH: EXEC ", re.MULTILINE)

TRANSACTION = "node_transaction"


@dataclass(frozen=True)
class Trace:
    """``modules``: executions on the node by module name; ``commands``: commands sent over ssh."""

    modules: Counter[str] = field(default_factory=Counter)
    commands: int = 0

    @property
    def polls(self) -> int:
        """Executions of the transaction module that query progress: all except the first, which starts it."""
        return max(0, self.modules[TRANSACTION] - 1)

    @property
    def executions(self) -> int:
        """Module executions without polls."""
        return self.modules.total() - self.polls


def parse_trace(output: str) -> Trace:
    """The Trace in the output of a run with -vvv."""
    return Trace(Counter(_MODULE.findall(output)), len(_COMMAND.findall(output)))
