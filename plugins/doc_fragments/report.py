# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options for which findings are shown, and which are failures."""

from __future__ import annotations


class ModuleDocFragment:
    FILTER = r"""
options:
  finding_codes:
    description: Show only findings with these codes. Empty shows all. JSON reports always contain all findings.
    type: list
    elements: str
    default: []
  finding_severities:
    description: Show only findings with these severities. Empty shows all. JSON reports always contain all findings.
    type: list
    elements: str
    choices: [error, warning, info]
    default: []
"""

    FAILURE = r"""
options:
  fail_severities:
    description: Findings with these severities make the run fail, even if they are not shown. Empty means never.
    type: list
    elements: str
    choices: [error, warning, info]
    default: []
"""

    DETAILS = r"""
options:
  detailed_hosts:
    description:
      - The largest number of nodes for which a report of each is printed. With more nodes, groups are printed.
      - With C(-v), the reports are always printed.
    type: int
    default: 3
"""
