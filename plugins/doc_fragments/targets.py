# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options for the target versions of an upgrade."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  target_kubernetes:
    description:
      - Report what would stop working with this version of Kubernetes, such as V(1.36).
      - Such findings have codes that begin with C(upgrade-), and do not change the verdict.
    type: str
  target_containerd:
    description: The same for a version of containerd, such as V(2.1).
    type: str
  target_systemd:
    description: The same for a version of systemd, such as V(258).
    type: str
"""
