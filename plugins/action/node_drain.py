# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controller half of node_drain, and all of it: a host's Node is drained, or opened again."""

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


def stamp() -> str:
    return f"{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%SZ}"


class ActionModule(RolloutAction):
    ARGUMENTS = NODE_DRAIN

    def with_cluster(self, cluster: DrainCluster, arguments: Mapping[str, Any]) -> dict[str, Any]:
        name = self.node_of(arguments["name"], cluster)
        if arguments["state"] == "drained":
            return {"node": name, **self._drained(cluster, name, arguments["timeout"])}
        return {"node": name, **self._released(cluster, name, arguments)}

    def _drained(self, cluster: DrainCluster, name: str, timeout: float) -> dict[str, Any]:
        if self._task.check_mode:
            found = preview_drain(cluster.node(name), cluster.pods(name))
        else:
            found = drain_node(cluster, name, WaitOptions(timeout, show=self._show), stamp)
        if found.reason:
            display.warning(f"{self.host} is not drained, and its cordon as it was: {found.reason}")
        changed = bool(found.evicted) or found.cordoned
        return {"changed": changed, "diff": [drain_diff(found)] if changed else [], **drain_result(found)}

    def _released(self, cluster: DrainCluster, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """In check mode nothing was closed: the drain's own outlook says what there would be to open."""
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
            "msg": f"The Node {name} is not Ready {timeout} s after its node was changed. Its cordon is as it was."
            f" Look at kubelet there, and at kubectl describe node {name}.",
        }

    def _was_ready(self, node: str) -> bool:
        """Before the rollout; a Node that was not is not waited for, since the change is not what keeps it."""
        outlook = self.registered(self.host)["rollout_preview"] or {}
        found = next((each["ready"] for each in outlook.get("nodes", ()) if each["node"] == node), True)
        if not found:
            display.warning(f"The Node {node} was not Ready before the rollout: that it is now was not waited for.")
        return bool(found)

    def _show(self, told: str) -> None:
        display.display(f"  {self.host}: {told}")
