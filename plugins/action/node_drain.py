# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""node_drain, which runs only on the controller: drain a host's Node, or uncordon it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

from ..plugin_utils.drain.cordon_and_drain import drain_node, is_own_cordon, preview_drain, uncordon_node, wait_for_node
from ..plugin_utils.drain.eviction_api import DrainCluster
from ..plugin_utils.drain.rollout_action import NODE_DRAIN, RolloutAction
from ..plugin_utils.drain.rollout_report import drain_diff, drain_result
from ..plugin_utils.kube.wait import WaitOptions
from ..plugin_utils.node.action_base import display


def timestamp() -> str:
    return f"{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%SZ}"


class ActionModule(RolloutAction):
    ARGUMENTS = NODE_DRAIN

    def with_cluster(self, cluster: DrainCluster, arguments: Mapping[str, Any]) -> dict[str, Any]:
        name = self.node_of(arguments["name"], cluster)
        if arguments["state"] == "drained":
            return {"node": name, **self._drain(cluster, name, arguments["timeout"])}
        return {"node": name, **self._uncordon(cluster, name, arguments)}

    def _drain(self, cluster: DrainCluster, name: str, timeout: float) -> dict[str, Any]:
        if self._task.check_mode:
            drain = preview_drain(cluster.node(name), cluster.pods(name))
        else:
            drain = drain_node(cluster, name, WaitOptions(timeout, show=self._show), timestamp)
        if drain.reason:
            display.warning(f"{self.host} is not drained; its cordon is unchanged: {drain.reason}")
        changed = bool(drain.evicted) or drain.cordoned
        return {"changed": changed, "diff": [drain_diff(drain)] if changed else [], **drain_result(drain)}

    def _uncordon(self, cluster: DrainCluster, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """In check mode nothing was cordoned: the preview of the drain shows what would be uncordoned."""
        if self._task.check_mode:
            closed = (self.registered(arguments["name"]).get("rollout_drained") or {}).get("cordoned")
            return {"changed": is_own_cordon(cluster.node(name)) or bool(closed)}
        timeout = arguments["timeout"]
        options = WaitOptions(timeout, show=self._show)
        ready = not timeout or not self._was_ready(name) or wait_for_node(cluster, name, options)
        changed = uncordon_node(cluster, name)
        if ready:
            return {"changed": changed}
        return {
            "failed": True,
            "changed": changed,
            "msg": f"The Node {name} is not Ready {timeout} s after its node was changed. Its cordon is unchanged."
            f" Check kubelet on the node, and kubectl describe node {name}.",
        }

    def _was_ready(self, node: str) -> bool:
        """Whether a Node was Ready before the rollout. If not, the change is not the cause: do not wait for it."""
        preview = self.registered(self.host)["rollout_preview"] or {}
        was_ready = next(
            (node_preview["ready"] for node_preview in preview.get("nodes", ()) if node_preview["node"] == node), True
        )
        if not was_ready:
            display.warning(f"The Node {node} was not Ready before the rollout, so its readiness now was not checked.")
        return bool(was_ready)

    def _show(self, message: str) -> None:
        self.progress(f"  {self.host}: {message}")
