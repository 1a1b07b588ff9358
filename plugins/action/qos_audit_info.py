# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""qos_audit_info, which runs only on the controller: find pods that break the rules of their level."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..plugin_utils.node.cluster_action import ClusterAction
from ..plugin_utils.node.transport import Node
from ..plugin_utils.profile.argspec import QOS_AUDIT_INFO
from ..plugin_utils.scheduler.level_audit import audit_levels, missing_policy, read_pods


class ActionModule(ClusterAction):
    ARGUMENTS = QOS_AUDIT_INFO

    UNNAMED = "colocation_kubeconfig is not set, and pods are listed by an API server"
    PAGE = "docs/scheduler.md"

    def on_cluster(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        client = self.client(arguments)
        excluded = (*arguments["excluded_namespaces"], arguments["namespace"])
        audit = audit_levels(read_pods(client), excluded, arguments["oversubscribed_resources"])
        return {"changed": False, **audit.to_result(), "unsupported": list(missing_policy(client))}
