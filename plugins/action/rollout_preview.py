# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controller half of rollout_preview, and all of it: what draining the play's hosts would come to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..plugin_utils.drain.cordon_and_drain import is_node_ready, is_own_cordon, preview_drain
from ..plugin_utils.drain.evictable_pods import Budget
from ..plugin_utils.drain.eviction_api import DrainCluster
from ..plugin_utils.drain.rollout_action import ROLLOUT_PREVIEW, RolloutAction
from ..plugin_utils.drain.rollout_report import DrainPreview, drain_result, preview_lines, split_batches
from ..plugin_utils.kube.identity import is_observed, match_nodes, parse_identity, parse_node
from ..plugin_utils.kube.objects import Object
from ..plugin_utils.node.action_base import display


class ActionModule(RolloutAction):
    ARGUMENTS = ROLLOUT_PREVIEW
    _budgets: tuple[Budget, ...] | None = None

    def with_cluster(self, cluster: DrainCluster, arguments: Mapping[str, Any]) -> dict[str, Any]:
        observed = {name: self.registered(name)["node_observed"] for name in arguments["nodes"]}
        # A host that cannot be reached or looked at is out of the play, and Ansible names it.
        seen = {name: each for name, each in observed.items() if is_observed(each)}
        hosts = [parse_identity(name, each["kubeadm"]) for name, each in seen.items()]
        queued = [name for name, each in seen.items() if "observation" in each]
        together = split_batches(queued, arguments["batches"])
        cluster.require_permissions()
        nodes = {each["metadata"]["name"]: each for each in cluster.nodes()}
        owners = match_nodes(hosts, [parse_node(each) for each in nodes.values()])
        found = {
            name: self._outlook(name, nodes[node], seen[name], cluster)
            for node, name in owners.items()
            if name in queued
        }
        if found:
            display.display("\n" + "\n".join(preview_lines(together, found)))
        return {
            "changed": False,
            "abandoned_cordons": [
                name for node, name in owners.items() if is_own_cordon(nodes[node]) and not _was_cut_off(seen[name])
            ],
            "to_drain": [each.host for each in found.values() if each.needed],
            "nodes": [
                {
                    "host": each.host,
                    "node": each.node,
                    "drain_required": each.needed,
                    "ready": is_node_ready(nodes[each.node]),
                    **drain_result(each.drained),
                }
                for each in found.values()
            ],
        }

    def _outlook(self, name: str, node: Object, observed: Mapping[str, Any], cluster: DrainCluster) -> DrainPreview:
        needed = _was_cut_off(observed) or "drain" in observed["plan"]["impact"]
        if needed and self._budgets is None:
            self._budgets = cluster.budgets()
        where = node["metadata"]["name"]
        return DrainPreview(
            name, where, needed, preview_drain(node, cluster.pods(where, self._budgets) if needed else ())
        )


def _was_cut_off(observed: Mapping[str, Any]) -> bool:
    """What has to be done there after it is undone is not known yet."""
    return bool(observed["facts"]["unfinished_transactions"])
