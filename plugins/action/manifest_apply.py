# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""manifest_apply, which runs only on the controller: apply a pinned manifest to a cluster, and delete it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..plugin_utils.kube.api_errors import ClusterError
from ..plugin_utils.kube.identity import require_cluster
from ..plugin_utils.kube.object_changes import ObjectChange, required_permissions
from ..plugin_utils.kube.permissions import RequiredPermission, require_permissions
from ..plugin_utils.kube.wait import WaitOptions
from ..plugin_utils.manifest.apply_order import Stage, stage_of
from ..plugin_utils.manifest.apply_plan import ManifestPlan, job_fingerprints, plan_apply
from ..plugin_utils.manifest.container_images import check_registry
from ..plugin_utils.manifest.inventory import ManifestCluster, ManifestState, inventory_ref
from ..plugin_utils.manifest.removal_plan import RemovalOptions, plan_removal
from ..plugin_utils.manifest.yaml_documents import (
    MANIFEST_APPLY,
    ManifestDocument,
    ManifestOptions,
    parse_document,
    verify_text,
)
from ..plugin_utils.node.action_base import display
from ..plugin_utils.node.cluster_action import ClusterAction, redacted_diff
from ..plugin_utils.node.transport import Node
from ..plugin_utils.report.facts_document import to_builtins


class ActionModule(ClusterAction):
    ARGUMENTS = MANIFEST_APPLY

    UNNAMED = "colocation_kubeconfig is not set, and a manifest can be applied only through an API server"
    PAGE = "docs/scheduler.md"

    def on_cluster(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        options = WaitOptions(arguments["timeout"], node.sleep, self._show)
        cluster = ManifestCluster(self.client(arguments))
        if arguments["state"] == "absent":
            return self._delete(cluster, arguments, options)
        return self._apply(cluster, arguments, options)

    def _apply(self, cluster: ManifestCluster, arguments: Mapping[str, Any], options: WaitOptions) -> dict[str, Any]:
        name, path = arguments["name"], arguments["manifest"]
        document = _document(arguments)
        observed = cluster.read_state(name, document)
        require_cluster(observed.uid, arguments["cluster_uid"], changing=False)
        plan = plan_apply(document, observed, name, path, adopt=arguments["adopt"])
        changed = bool(plan.changes) or plan.inventory != observed.inventory
        require_cluster(observed.uid, arguments["cluster_uid"], changing=changed)
        version = self._write_inventory(cluster, name, plan, observed)
        workloads = [item.ref for item in document.items if stage_of(item.ref) is Stage.WORKLOADS]
        cluster.apply(plan.changes, [ref for ref in workloads if not _is_done(ref.place, document, observed)], options)
        if not self._task.check_mode:
            jobs = job_fingerprints(document.items, observed.inventory.jobs)
            if jobs != observed.inventory.jobs:
                require_cluster(observed.uid, arguments["cluster_uid"], changing=True)
                cluster.write_inventory(name, replace(plan.inventory, jobs=jobs), version)
        return {
            **_render_plan(plan),
            "changed": changed,
            "images": list(document.images),
            "unsupported": list(document.unsupported),
        }

    def _write_inventory(
        self, cluster: ManifestCluster, name: str, plan: ManifestPlan, observed: ManifestState
    ) -> str | None:
        """Write the inventory before the first object, so that an interrupted run can be continued; its version."""
        if not plan.changes and plan.inventory == observed.inventory:
            return observed.version
        verbs = ("patch",) if observed.version else ("create", "patch")
        _require(cluster, name, plan, *verbs)
        if plan.inventory == observed.inventory:
            return observed.version
        return cluster.write_inventory(name, plan.inventory, observed.version)

    def _delete(self, cluster: ManifestCluster, arguments: Mapping[str, Any], options: WaitOptions) -> dict[str, Any]:
        name = arguments["name"]
        observed = cluster.read_recorded_state(name)
        require_cluster(observed.uid, arguments["cluster_uid"], changing=False)
        plan = plan_removal(observed, name, RemovalOptions(arguments["remove_crds"], arguments["remove_in_use"]))
        forgets = observed.version is not None and not plan.inventory.refs
        changes = bool(plan.changes) or forgets
        require_cluster(observed.uid, arguments["cluster_uid"], changing=changes)
        if changes:
            _require(cluster, name, plan, "delete" if forgets else "patch")
            cluster.apply(plan.changes, (), options)
            if forgets:
                cluster.delete_inventory(name)
            elif plan.inventory != observed.inventory:
                cluster.write_inventory(name, plan.inventory, observed.version)
        return {**_render_plan(plan), "changed": changes, "images": [], "unsupported": []}

    def _show(self, message: str) -> None:
        display.display(f"{self.host}: {message}")


def _document(arguments: Mapping[str, Any]) -> ManifestDocument:
    path = arguments["manifest"]
    if not path:
        raise ClusterError(
            "The option manifest is not set",
            "Nothing was changed. Set it to the path of a manifest on the controller.",
        )
    check_registry(arguments["registry"])
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        raise ClusterError(
            f"{path} cannot be read: {error.strerror}", "Nothing was changed. Give a manifest's path on the controller."
        ) from error
    text = verify_text(path, content, arguments["sha256"])
    options = ManifestOptions(
        arguments["namespace"],
        arguments["registry"],
        arguments["allow_unpinned"],
        tuple(arguments["imported_images"]),
    )
    return parse_document(path, text, options)


def _require(cluster: ManifestCluster, name: str, plan: ManifestPlan, *verbs: str) -> None:
    """Check the permissions for a plan, and for these verbs on the inventory."""
    inventory = (RequiredPermission.of(verb, inventory_ref(name)) for verb in verbs)
    require_permissions(cluster.client, (*inventory, *required_permissions(plan.changes)))


def _is_done(job: str, document: ManifestDocument, observed: ManifestState) -> bool:
    """Whether a Job was done in an earlier run; the server may have deleted it since."""
    fingerprints = job_fingerprints(document.items, {})
    return job in fingerprints and observed.inventory.jobs.get(job) == fingerprints[job]


def _redacted(change: ObjectChange) -> dict[str, str]:
    """The diff of a change. A Secret's diff never has values; its keys show which value changed."""
    return change.diff() if change.ref.kind == "Secret" else redacted_diff(change)


def _render_plan(plan: ManifestPlan) -> dict[str, Any]:
    changes = [change.to_result() for change in plan.changes]
    edits = [_redacted(change) for change in plan.changes]
    result = {"diff": edits, "changes": changes, "preserved_fields": plan.preserved, "remaining": plan.remaining}
    return dict(to_builtins(result))
