# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an action needs that runs on the controller and asks an API server."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

from ..kubeadm.model import ClusterError


def here(task_vars: Mapping[str, Any]) -> dict[str, Any]:
    """kubernetes.core is to run with the Python that has its library, and to keep what it is given out of syslog."""
    own = {"ansible_python_interpreter": sys.executable, "ansible_no_target_syslog": True}
    delegated = {name: {**each, **own} for name, each in (task_vars.get("ansible_delegated_vars") or {}).items()}
    return {**task_vars, **own, "ansible_delegated_vars": delegated}


def kubeconfig_path(given: str | None, transport: str, module: str, unnamed: str) -> str:
    """The absolute path of a kubeconfig; ClusterError where there is none. ``unnamed`` says who wants one."""
    if transport != "local":
        raise ClusterError(f"{module} runs on the controller, not on a node", "Give the task delegate_to: localhost.")
    if not given:
        raise ClusterError(unnamed, "Nothing was changed. Give the path of one on the controller.")
    path = os.path.abspath(given)
    if not os.path.isfile(path):
        raise ClusterError(f"{path} is no file", "Nothing was changed. Give the kubeconfig's path on the controller.")
    return path
