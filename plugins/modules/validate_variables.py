#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of validate_variables; its work is done by the action plugin of the same name."""

from __future__ import annotations

DOCUMENTATION = r"""
module: validate_variables
short_description: Refuse unknown variables of the collection (internal)
version_added: 0.1.0
description:
  - Fails when a variable of the host begins with C(colocation_) and no role or playbook of the collection has it. A
    misspelled variable would leave the default in force.
  - Each action plugin of the collection does this before its own work when a role of the collection calls it. This
    module is for roles whose other tasks may all be skipped.
  - Works on the controller only. Internal to the roles of the collection.
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
options: {}
attributes:
  check_mode:
    support: full
    details: [It never changes anything.]
  diff_mode:
    support: none
"""

EXAMPLES = r"""
- name: Require known variables
  volcano.colocation.validate_variables:
"""

RETURN = r""" # """
