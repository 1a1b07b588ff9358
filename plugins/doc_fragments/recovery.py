# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The option of the modules that run transactions."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  recover:
    description:
      - What to do first with an earlier transaction that was cut off on this node and has not been undone since.
      - V(undo) puts the node back as it was before it. V(finish) goes on from the step where it ended; what was
        being undone already is undone.
      - V(stop) leaves the node as it is and fails, with the id and age of the transaction and the step it is in.
      - After a power cut or a reboot it was undone while the node booted, whatever this option says.
    type: str
    choices: [undo, finish, stop]
    default: undo
"""
