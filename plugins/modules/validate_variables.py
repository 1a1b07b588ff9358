#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of validate_variables, which the action plugin with this name implements."""

from __future__ import annotations

DOCUMENTATION = r"""
module: validate_variables
short_description: Refuse wrong variables of the collection (internal)
version_added: 0.1.0
description:
  - Fails if a variable begins with C(colocation_) and is not a variable of a role or playbook of the collection. A
    misspelled variable would leave the default in effect.
  - Checks the values of the variables by the argument specifications of O(roles), for all O(hosts) in one task. The
    message has each problem once. Values that Ansible can only determine in a later task are not checked.
  - All action plugins of the collection check the names of the variables first when a role of the collection calls
    them. This module is for roles whose other tasks may all be skipped, and for playbooks, which check all hosts before
    they read the first.
  - Runs only on the controller. Internal to the roles and playbooks of the collection.
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
options:
  hosts:
    description: Names of hosts. Empty means the host of the task.
    type: list
    elements: str
    default: []
  roles:
    description: Names of the collection's roles, such as V(node), whose variables are checked.
    type: list
    elements: str
    default: []
  assess_only:
    description: Names of variables that only the playbook C(assess) reads. A value is refused.
    type: list
    elements: str
    default: []
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

- name: Check the variables of all hosts of the play
  volcano.colocation.validate_variables:
    hosts: "{{ ansible_play_hosts_all }}"
    roles: [node, qos]
  run_once: true
"""

RETURN = r""" # """
