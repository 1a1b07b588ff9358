# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of the modules that drain nodes."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  kubeconfig:
    description:
      - Path of a kubeconfig on the controller. Its user needs to get, list and patch nodes, to list pods and
        PodDisruptionBudgets, and to create C(pods/eviction).
    type: path
  bare_pods:
    description:
      - What becomes of pods that no controller brings back. V(refuse) leaves a node with such pods undrained,
        V(evict) evicts them for good.
    type: str
    choices: [refuse, evict]
    default: refuse
  empty_dir:
    description:
      - What becomes of pods with an C(emptyDir), whose content goes with them. V(refuse) leaves a node with such pods
        undrained, V(evict) evicts them.
    type: str
    choices: [refuse, evict]
    default: refuse
requirements:
  - the Python library kubernetes on the controller
"""
