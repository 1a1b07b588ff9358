# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of the modules that restart kubelet and the runtime."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  allow_disruption:
    description:
      - What to do when pods have to be stopped and made again, which a change of the driver, the CPU manager policy or
        the reserved CPUs needs.
      - V(true) does it. V(false) does everything else and reports the rest as pending.
      - Not set, the node is refused before its first change, with an explanation.
    type: bool
  health_timeout:
    description: Seconds the node may take to become healthy before everything is put back.
    type: int
    default: 300
"""
