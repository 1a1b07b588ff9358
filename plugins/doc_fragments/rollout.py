# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of the modules that drain nodes."""

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
      - What to do with pods that no controller re-creates. V(refuse) does not drain a node with such pods, V(evict)
        evicts them permanently.
    type: str
    choices: [refuse, evict]
    default: refuse
  empty_dir:
    description:
      - What to do with pods with an C(emptyDir), whose content is lost when they are evicted. V(refuse) does not drain
        a node with such pods, V(evict) evicts them.
    type: str
    choices: [refuse, evict]
    default: refuse
"""
