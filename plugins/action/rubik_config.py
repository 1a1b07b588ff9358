# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action of rubik_config, which runs only on the controller: render rubik's configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..plugin_utils.agent.agent_action import AgentHostsAction
from ..plugin_utils.agent.module_options import RUBIK_CONFIG
from ..plugin_utils.agent.rubik_agent import render_rubik_config
from ..plugin_utils.kube.api_errors import ClusterError
from ..plugin_utils.node.transport import Node


class ActionModule(AgentHostsAction):
    ARGUMENTS = RUBIK_CONFIG

    def execute(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        try:
            text = render_rubik_config(self.agent_hosts(arguments["nodes"], ""), arguments["features"])
        except ClusterError as error:
            return {"failed": True, "msg": str(error)}
        return {"changed": False, "config": text}
