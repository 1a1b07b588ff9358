# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""rollout_preview, which runs only on the controller: preview draining the hosts of a play."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..plugin_utils.drain.cordon_and_drain import is_node_ready, is_own_cordon, preview_drain
from ..plugin_utils.drain.evictable_pods import Budget
from ..plugin_utils.drain.eviction_api import DrainCluster
from ..plugin_utils.drain.rollout_action import ROLLOUT_PREVIEW, RolloutAction
from ..plugin_utils.drain.rollout_groups import preview_groups
from ..plugin_utils.drain.rollout_report import DrainPreview, drain_result, preview_lines, split_batches
from ..plugin_utils.kube.identity import is_observed, match_nodes, parse_identity, parse_node
from ..plugin_utils.kube.objects import Object
from ..plugin_utils.node.action_base import display
from ..plugin_utils.node.output_files import LimitOptions


class ActionModule(RolloutAction):
    ARGUMENTS = ROLLOUT_PREVIEW
    _budgets: tuple[Budget, ...] | None = None

    def with_cluster(self, cluster: DrainCluster, arguments: Mapping[str, Any]) -> dict[str, Any]:
        observed = {name: self.registered(name)["node_observed"] for name in arguments["nodes"]}
        # A host that cannot be reached or read has left the play, and Ansible reports it.
        observed_hosts = {name: result for name, result in observed.items() if is_observed(result)}
        hosts = [parse_identity(name, result["kubeadm"]) for name, result in observed_hosts.items()]
        queued = [name for name, result in observed_hosts.items() if "observation" in result]
        together = split_batches(queued, arguments["batches"])
        cluster.require_permissions()
        nodes = {node["metadata"]["name"]: node for node in cluster.nodes()}
        owners = match_nodes(hosts, [parse_node(node) for node in nodes.values()])
        previews = {
            name: self._preview(name, nodes[node], observed_hosts[name], cluster)
            for node, name in owners.items()
            if name in queued
        }
        if previews:
            display.display("\n" + "\n".join(self._preview_lines(together, previews, arguments)))
        return {
            "changed": False,
            "abandoned_cordons": [
                name
                for node, name in owners.items()
                if is_own_cordon(nodes[node]) and not _is_interrupted(observed_hosts[name])
            ],
            "to_drain": [preview.host for preview in previews.values() if preview.needed],
            "nodes": [
                {
                    "host": preview.host,
                    "node": preview.node,
                    "drain_required": preview.needed,
                    "ready": is_node_ready(nodes[preview.node]),
                    **drain_result(preview.drained),
                }
                for preview in previews.values()
            ],
        }

    def _preview_lines(
        self, batches: Sequence[Sequence[str]], previews: Mapping[str, DrainPreview], arguments: Mapping[str, Any]
    ) -> Iterable[str]:
        if display.is_verbose or len(previews) <= arguments["detailed_hosts"]:
            return preview_lines(batches, previews)
        return preview_groups(batches, previews, LimitOptions(self.inventory_groups))

    def _preview(self, name: str, node: Object, observed: Mapping[str, Any], cluster: DrainCluster) -> DrainPreview:
        needed = _is_interrupted(observed) or "drain" in observed["plan"]["impact"]
        if needed and self._budgets is None:
            self._budgets = cluster.budgets()
        where = node["metadata"]["name"]
        return DrainPreview(
            name, where, needed, preview_drain(node, cluster.pods(where, self._budgets) if needed else ())
        )


def _is_interrupted(observed: Mapping[str, Any]) -> bool:
    """Whether a host has an unfinished transaction: the changes after its rollback are not known yet."""
    return bool(observed["facts"]["unfinished_transactions"])
