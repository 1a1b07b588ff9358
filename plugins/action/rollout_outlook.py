# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controller half of rollout_outlook, and all of it: what draining the play's hosts would come to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..plugin_utils.controller.action import display
from ..plugin_utils.controller.node_api import NodeApi
from ..plugin_utils.controller.rollout_action import RolloutAction
from ..plugin_utils.rollout.arguments import ROLLOUT_OUTLOOK
from ..plugin_utils.rollout.batches import batches
from ..plugin_utils.rollout.cordon import is_ours
from ..plugin_utils.rollout.drain import outlook
from ..plugin_utils.rollout.shown import Outlook, outlook_lines, published


class ActionModule(RolloutAction):
    ARGUMENTS = ROLLOUT_OUTLOOK

    def with_api(self, api: NodeApi, arguments: Mapping[str, Any]) -> dict[str, Any]:
        observed = {name: self.registered(name)["node_observed"] or {} for name in arguments["nodes"]}
        queued = [name for name, each in observed.items() if "observation" in each]
        together = batches(queued, arguments["batches"])
        api.demand()
        found: dict[str, Outlook] = {}
        marked: list[str] = []
        for name, each in observed.items():
            if not each:
                continue
            node = api.node(self.node_of(name, api))
            if is_ours(node):
                marked.append(name)
            if name in queued:
                needed = "drain" in each["plan"]["needs"]
                pods = api.pods(node["metadata"]["name"]) if needed else ()
                found[name] = Outlook(name, node["metadata"]["name"], needed, outlook(node, pods))
        if found:
            display.display("\n" + "\n".join(outlook_lines(together, found)))
        return {
            "changed": False,
            "marked": marked,
            "nodes": [
                {"host": each.host, "node": each.node, "needed": each.needed, **published(each.drained)}
                for each in found.values()
            ],
        }
