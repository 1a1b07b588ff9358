#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of validate_variables, which the action plugin with this name implements."""

from __future__ import annotations

DOCUMENTATION = r"""
module: validate_variables
short_description: Refuse unknown variables of the collection (internal)
version_added: 0.1.0
description:
  - Fails if a variable of the host begins with C(colocation_) and is not a variable of a role or playbook of the
    collection. A misspelled variable would leave the default in effect.
  - All action plugins of the collection make this check first when a role of the collection calls them. This module is
    for roles whose other tasks may all be skipped.
  - Runs only on the controller. Internal to the roles of the collection.
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
options: {}
attributes:
  check_mode:
    support: full
    details: [The module never changes anything.]
  diff_mode:
    support: none
"""

EXAMPLES = r"""
- name: Require known variables
  volcano.colocation.validate_variables:
"""

RETURN = r""" # """
