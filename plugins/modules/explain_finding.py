#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of explain_finding, which the action plugin with this name implements."""

from __future__ import annotations

DOCUMENTATION = r"""
module: explain_finding
short_description: Explain a finding or a refusal
version_added: 0.1.0
description:
  - Prints and returns what C(docs/findings.md) of the collection says of a code, which is what it means, what to do,
    and the variables of the roles that it concerns.
  - Runs only on the controller. The playbook C(assess) does the same with C(-e colocation_explain=CODE).
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
options:
  code:
    description:
      - The code of a finding or of a refusal, such as V(driver-mismatch). An unknown one is refused with the nearest.
    type: str
    required: true
attributes:
  check_mode:
    support: full
    details: [The module never changes anything.]
  diff_mode:
    support: none
"""

EXAMPLES = r"""
- name: Explain a finding
  volcano.colocation.explain_finding:
    code: driver-mismatch
"""

RETURN = r"""
code:
  description: The code.
  returned: success
  type: str
severity:
  description: The severities that the finding can have, such as V(error or info).
  returned: success
  type: str
effects:
  description: The verdicts that the finding can lead to; V(none) leaves the verdict as it is.
  returned: success
  type: list
  elements: str
meaning:
  description: What is wrong, and why it matters. Paragraphs are separated by an empty line.
  returned: success
  type: str
remedy:
  description: What to do.
  returned: success
  type: str
source:
  description: Where the statements come from; empty if they need no source.
  returned: success
  type: str
variables:
  description: The variables of the roles that the finding concerns.
  returned: success
  type: list
  elements: str
page:
  description: The section of the collection's page of findings.
  returned: success
  type: str
  sample: docs/findings.md#driver-mismatch
"""
