# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options that say which findings are shown, and which are failures."""

from __future__ import annotations


class ModuleDocFragment:
    FILTER = r"""
options:
  finding_codes:
    description: Show findings with these codes only. Empty shows all. JSON reports always hold all.
    type: list
    elements: str
    default: []
  finding_severities:
    description: Show findings of these severities only. Empty shows all. JSON reports always hold all.
    type: list
    elements: str
    choices: [error, warning, info]
    default: []
"""

    FAILURE = r"""
options:
  fail_severities:
    description: Findings of these severities are failures, shown or not. Empty never fails.
    type: list
    elements: str
    choices: [error, warning, info]
    default: []
"""
