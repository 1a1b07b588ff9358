# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the action plugins do alike that run on the controller and ask an API server."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ..kubeadm.model import ClusterError
from .action import ColocationAction
from .requests import Objects, Requests
from .rest import Rest


class ClusterAction(ColocationAction):
    """An action on the controller; ``self.hostvars`` are those of the play's hosts."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        self.hostvars = (task_vars or {}).get("hostvars", {})
        return super().run(tmp, task_vars)

    def known(self, name: str) -> Mapping[str, Any]:
        """What is known of a host, untemplated: hostvars[name] would template every variable of every host."""
        found: Mapping[str, Any] = self.hostvars.raw_get(name)
        return found

    def requests(self, kubeconfig: str) -> Requests:
        """The way to the API server; in check mode what writes is a dry run."""
        return Objects(Rest(kubeconfig), dry_run=bool(self._task.check_mode))

    def kubeconfig(self, arguments: Mapping[str, Any], unnamed: str) -> str:
        """The absolute path of a kubeconfig; ClusterError where there is none. ``unnamed`` says who wants one."""
        if self._connection.transport != "local":
            module = (self._task.resolved_action or self._task.action or "").rpartition(".")[2]
            raise ClusterError(
                f"{module} runs on the controller, not on a node", "Give the task delegate_to: localhost."
            )
        given = arguments["kubeconfig"]
        if not given:
            raise ClusterError(unnamed, "Nothing was changed. Give the path of one on the controller.")
        path = os.path.abspath(given)
        if not os.path.isfile(path):
            raise ClusterError(
                f"{path} is no file", "Nothing was changed. Give the kubeconfig's path on the controller."
            )
        return path
