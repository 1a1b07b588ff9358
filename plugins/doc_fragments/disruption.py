# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of the modules that restart kubelet and the runtime."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  allow_disruption:
    description:
      - What to do if pods must be stopped and re-created, which a change of the cgroup driver, the CPU manager policy
        or the reserved CPUs requires.
      - V(true) stops them. V(false) makes all other changes and reports these as pending.
      - If it is not set, the node is refused before its first change, with an explanation.
    type: bool
  health_timeout:
    description: Seconds within which the node must become healthy, otherwise all changes are rolled back.
    type: int
    default: 300
"""
