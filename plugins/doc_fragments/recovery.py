# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Option of the modules that run transactions."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  recover:
    description:
      - What to do first with an earlier transaction that was interrupted on this node and is not rolled back yet.
      - V(undo) rolls it back. V(finish) continues from the step at which it was interrupted; if its rollback had begun,
        the rollback is continued.
      - V(stop) changes nothing and fails with the ID and age of the transaction and its current step.
      - After a power failure or a reboot, it is rolled back at boot regardless of this option.
    type: str
    choices: [undo, finish, stop]
    default: undo
"""
