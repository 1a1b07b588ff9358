# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Attributes of the collection's modules: check mode, diff mode, action plugins."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options: {}
attributes:
  check_mode:
    description: Can run in C(check_mode) and return changed status prediction without modifying target.
  diff_mode:
    description:
      - Will return details on what has changed (or possibly needs changing in C(check_mode)), when in diff mode.
"""

    ACTION = r"""
options: {}
attributes:
  action:
    support: full
    description: Has a corresponding action plugin that runs parts of the module on the controller.
  async:
    support: none
    description: Supports being used with the C(async) keyword.
"""

    ACTION_GROUP = r"""
options: {}
attributes:
  action_group:
    support: full
    membership:
      - volcano.colocation.node
    description: Use C(group/volcano.colocation.node) in C(module_defaults) to set defaults for this module.
"""
