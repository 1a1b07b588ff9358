# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requirements and options of the modules that use an API server, or the results of all hosts of a play."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options: {}
requirements:
  - the Python library kubernetes on the controller
"""

    UID = r"""
options:
  cluster_uid:
    description:
      - The UID of the cluster's namespace C(kube-system). A kubeconfig of another cluster is refused.
      - If it is empty, every change is refused and the message contains the UID of the cluster.
    type: str
    default: ""
"""

    HOSTS = r"""
options:
  nodes:
    description: Names of the play's hosts. Their results of the other modules are read.
    type: list
    elements: str
    required: true
"""
