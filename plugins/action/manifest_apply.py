# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controller half of manifest_apply, and all of it: a pinned manifest brought to a cluster, and taken away again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..plugin_utils.controller.action import display
from ..plugin_utils.controller.cluster_action import ClusterAction
from ..plugin_utils.controller.node import Node
from ..plugin_utils.facts.published_values import plain
from ..plugin_utils.kube.errors import ClusterError
from ..plugin_utils.kube.identity import require_cluster
from ..plugin_utils.kube.objects import Ref
from ..plugin_utils.kube.permissions import require_permissions
from ..plugin_utils.kube.wait import WaitOptions
from ..plugin_utils.manifest.arguments import MANIFEST_APPLY
from ..plugin_utils.manifest.document import Document, Options, pinned_text, read_document
from ..plugin_utils.manifest.images import check_registry
from ..plugin_utils.manifest.inventory import place
from ..plugin_utils.manifest.manifest_cluster import ManifestCluster
from ..plugin_utils.manifest.order import Stage, stage
from ..plugin_utils.manifest.plan import ManifestPlan, jobs_done, make_plan
from ..plugin_utils.manifest.removal import Permission, make_removal
from ..plugin_utils.manifest.seen import Seen
from ..plugin_utils.redact import redact_text
from ..plugin_utils.scheduler.deeds import Deed, ObjectChange, carry_out, required_permissions


class ActionModule(ClusterAction):
    ARGUMENTS = MANIFEST_APPLY

    UNNAMED = "colocation_kubeconfig names no kubeconfig, and a manifest is brought to a cluster by its API server only"
    PAGE = "docs/scheduler.md"

    def on_cluster(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        options = WaitOptions(arguments["timeout"], node.sleep, self._show)
        cluster = ManifestCluster(self.client(arguments))
        if arguments["state"] == "absent":
            return self._take_away(cluster, arguments, options)
        return self._bring(cluster, arguments, options)

    def _bring(self, cluster: ManifestCluster, arguments: Mapping[str, Any], options: WaitOptions) -> dict[str, Any]:
        name, path = arguments["name"], arguments["manifest"]
        document = _document(arguments)
        seen = cluster.look(name, document)
        require_cluster(seen.uid, arguments["cluster_uid"], changing=False)
        plan = make_plan(document, seen, name, path, adopt=arguments["adopt"])
        changed = bool(plan.changes) or plan.inventory != seen.inventory
        require_cluster(seen.uid, arguments["cluster_uid"], changing=changed)
        version = self._begin(cluster, name, plan, seen)
        later = _later(plan.changes)
        self._carry_out(cluster, tuple(each for each in plan.changes if each not in later), options)
        if not self._task.check_mode:
            workloads = [each.ref for each in document.items if stage(each.ref) is Stage.WORKLOADS]
            cluster.prove([each for each in workloads if not _is_done(each.place, document, seen)], options)
            self._carry_out(cluster, later, options)
            jobs = jobs_done(document.items, seen.inventory.jobs)
            if jobs != seen.inventory.jobs:
                require_cluster(seen.uid, arguments["cluster_uid"], changing=True)
                cluster.note(name, replace(plan.inventory, jobs=jobs), version)
        else:
            self._carry_out(cluster, later, options)
        return {
            **_told(plan),
            "changed": changed,
            "images": list(document.images),
            "unsupported": list(document.left_out),
        }

    def _begin(self, cluster: ManifestCluster, name: str, plan: ManifestPlan, seen: Seen) -> str | None:
        """The inventory is there before the first object, so that a run that is cut off loses nothing."""
        if not plan.changes and plan.inventory == seen.inventory:
            return seen.version
        deed = Deed.CHANGE if seen.version else Deed.CREATE
        require_permissions(cluster.client, required_permissions(plan.changes, None, place(name), deed, Deed.CHANGE))
        if plan.inventory == seen.inventory:
            return seen.version
        return cluster.note(name, plan.inventory, seen.version)

    def _carry_out(self, cluster: ManifestCluster, changes: tuple[ObjectChange, ...], options: WaitOptions) -> None:
        crds: list[Ref] = []
        for each in changes:
            if self._task.check_mode and not each.dry:
                continue
            if crds and stage(each.ref) is not Stage.CRDS and not self._task.check_mode:
                cluster.prove(crds, options)
                crds = []
            if each.deed is Deed.DELETE:
                cluster.delete(each, options)
            else:
                carry_out(cluster.client, each)
            if stage(each.ref) is Stage.CRDS and each.deed is not Deed.DELETE:
                crds.append(each.ref)
        if crds and not self._task.check_mode:
            cluster.prove(crds, options)

    def _take_away(
        self, cluster: ManifestCluster, arguments: Mapping[str, Any], options: WaitOptions
    ) -> dict[str, Any]:
        name = arguments["name"]
        seen = cluster.look_back(name)
        require_cluster(seen.uid, arguments["cluster_uid"], changing=False)
        plan = make_removal(seen, name, Permission(arguments["remove_crds"], arguments["remove_in_use"]))
        forgets = seen.version is not None and not plan.inventory.refs
        changes = bool(plan.changes) or forgets
        require_cluster(seen.uid, arguments["cluster_uid"], changing=changes)
        if changes:
            deed = Deed.DELETE if forgets else Deed.CHANGE
            require_permissions(cluster.client, required_permissions(plan.changes, None, place(name), deed))
            self._carry_out(cluster, plan.changes, options)
            if forgets:
                cluster.take_away(name)
            elif plan.inventory != seen.inventory:
                cluster.note(name, plan.inventory, seen.version)
        return {**_told(plan), "changed": changes, "images": [], "unsupported": []}

    def _show(self, message: str) -> None:
        display.display(f"{self.host}: {message}")


def _document(arguments: Mapping[str, Any]) -> Document:
    path = arguments["manifest"]
    if not path:
        raise ClusterError("No manifest is given", "Nothing was changed. Give the path of one on the controller.")
    check_registry(arguments["registry"])
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        raise ClusterError(
            f"{path} cannot be read: {error.strerror}", "Nothing was changed. Give a manifest's path on the controller."
        ) from error
    text = pinned_text(path, content, arguments["sha256"])
    options = Options(arguments["namespace"], arguments["registry"], arguments["allow_unpinned"])
    return read_document(path, text, options)


def _later(changes: tuple[ObjectChange, ...]) -> tuple[ObjectChange, ...]:
    """What is only made when the workloads run."""
    return tuple(each for each in changes if stage(each.ref) > Stage.WORKLOADS)


def _is_done(job: str, document: Document, seen: Seen) -> bool:
    """A Job that was done in an earlier run; the server may have taken it away since."""
    wanted = jobs_done(document.items, {})
    return job in wanted and seen.inventory.jobs.get(job) == wanted[job]


def _redacted(change: ObjectChange) -> dict[str, str]:
    """A Secret is shown without its values as it is, and its keys may say that one changed."""
    told = change.diff()
    return told if change.ref.kind == "Secret" else {name: redact_text(text) for name, text in told.items()}


def _told(plan: ManifestPlan) -> dict[str, Any]:
    changes = [{"object": each.ref.place, "action": each.deed.value} for each in plan.changes]
    edits = [_redacted(each) for each in plan.changes]
    told = {"diff": edits, "changes": changes, "preserved_fields": plan.kept, "remaining": plan.left}
    return dict(plain(told))
