# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The base classes of action plugins that run on the controller and use an API server."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from ..kube.api_errors import NOTHING_CHANGED, ClusterError, ErrorContext
from ..kube.dynamic_client import Client
from ..kube.object_changes import ObjectChange
from ..report.redact import redact_text
from .action_base import ColocationAction, strip_tags
from .transport import Node


class HostvarsAction(ColocationAction):
    """An action on the controller; ``self.hostvars`` are the variables of the play's hosts.

    ``self.inventory_groups``: the hosts of each group of the inventory.
    """

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        self.hostvars = (task_vars or {}).get("hostvars", {})
        self.inventory_groups: dict[str, list[str]] = strip_tags((task_vars or {}).get("groups", {}))
        return super().run(tmp, task_vars)

    def known(self, name: str) -> Mapping[str, Any]:
        """A host's untemplated variables: hostvars[name] would template all variables of all hosts."""
        variables: Mapping[str, Any] = self.hostvars.raw_get(name)
        return variables


class ClusterAction(HostvarsAction):
    """An action that uses an API server."""

    UNNAMED: ClassVar[str] = ""
    """Error message for a missing kubeconfig option."""
    PAGE: ClassVar[str] = ""
    """The docs page with the permissions that the kubeconfig's user needs."""
    UNTOUCHED: ClassVar[str] = NOTHING_CHANGED
    """For error messages: what was changed when a request fails."""
    ALTERNATIVE: ClassVar[str] = ""
    """For error messages: how to work without a permission."""

    def execute(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return self.on_cluster(node, arguments)
        except ClusterError as error:
            return {"failed": True, "msg": str(error)}

    @abstractmethod
    def on_cluster(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The result; ClusterError if the cluster does not allow it."""

    def client(self, arguments: Mapping[str, Any]) -> Client:
        """A client for the API server; in check mode write requests are dry runs."""
        return self.connect(ErrorContext(self._kubeconfig(arguments), self.PAGE, self.UNTOUCHED, self.ALTERNATIVE))

    def connect(self, context: ErrorContext) -> Client:
        return Client(context, dry_run=bool(self._task.check_mode))

    def _kubeconfig(self, arguments: Mapping[str, Any]) -> str:
        """The absolute path of the kubeconfig; ClusterError if it is missing."""
        if self._connection.transport != "local":
            module = (self._task.resolved_action or self._task.action or "").rpartition(".")[2]
            raise ClusterError(
                f"{module} runs on the controller, not on a node", "Give the task delegate_to: localhost."
            )
        kubeconfig = arguments["kubeconfig"]
        if not kubeconfig:
            raise ClusterError(
                self.UNNAMED, "Nothing was changed. Set it to the path of a kubeconfig on the controller."
            )
        path = os.path.abspath(kubeconfig)
        if not os.path.isfile(path):
            raise ClusterError(
                f"{path} is not a file", "Nothing was changed. Give the kubeconfig's path on the controller."
            )
        return path


def redacted_diff(change: ObjectChange) -> dict[str, str]:
    """A diff without possible secrets."""
    return {name: redact_text(text) for name, text in change.diff().items()}
