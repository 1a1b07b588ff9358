# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Counts module executions in what Ansible prints under -vvv: its word, not ours."""

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
        """One execution starts a transaction, the others ask how far it is."""
        return max(0, self.modules[TRANSACTION] - 1)

    @property
    def executions(self) -> int:
        """Module executions, polls apart."""
        return self.modules.total() - self.polls


def parse_trace(output: str) -> Trace:
    """The Trace in the output of a run with -vvv."""
    return Trace(Counter(_MODULE.findall(output)), len(_COMMAND.findall(output)))
