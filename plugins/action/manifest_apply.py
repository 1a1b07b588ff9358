# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controller half of manifest_apply, and all of it: a pinned manifest brought to a cluster, and taken away again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..plugin_utils.controller.action import display
from ..plugin_utils.controller.cluster_action import ClusterAction
from ..plugin_utils.controller.manifest_api import ManifestApi, Patience
from ..plugin_utils.controller.node import Node
from ..plugin_utils.facts.published_values import plain
from ..plugin_utils.kubeadm.model import ClusterError
from ..plugin_utils.manifest.arguments import MANIFEST_APPLY
from ..plugin_utils.manifest.document import Document, Options, pinned_text, read_document
from ..plugin_utils.manifest.images import check_registry
from ..plugin_utils.manifest.inventory import place
from ..plugin_utils.manifest.order import Stage, stage
from ..plugin_utils.manifest.plan import ManifestPlan, jobs_done, make_plan
from ..plugin_utils.manifest.removal import Permission, make_removal
from ..plugin_utils.manifest.seen import Seen
from ..plugin_utils.redact import redact_text
from ..plugin_utils.scheduler.deeds import Deed, ObjectChange, needs
from ..plugin_utils.scheduler.objects import Ref
from ..plugin_utils.scheduler.seen import check_cluster

UNNAMED = "colocation_kubeconfig names no kubeconfig, and a manifest is brought to a cluster by its API server only"


class ActionModule(ClusterAction):
    ARGUMENTS = MANIFEST_APPLY

    def work(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        try:
            path = self.kubeconfig(arguments, UNNAMED)
            patience = Patience(arguments["timeout"], node.sleep, self._tell)
            api = ManifestApi(self.requests(path), path)
            if arguments["state"] == "absent":
                return self._take_away(api, arguments, patience)
            return self._bring(api, arguments, patience)
        except ClusterError as error:
            return {"failed": True, "msg": str(error)}

    def _bring(self, api: ManifestApi, arguments: Mapping[str, Any], patience: Patience) -> dict[str, Any]:
        name, path = arguments["name"], arguments["manifest"]
        document = _document(arguments)
        seen = api.look(name, document)
        check_cluster(seen, arguments["cluster_uid"], changing=False)
        plan = make_plan(document, seen, name, path, adopt=arguments["adopt"])
        changed = bool(plan.changes) or plan.inventory != seen.inventory
        check_cluster(seen, arguments["cluster_uid"], changing=changed)
        version = self._begin(api, name, plan, seen)
        later = _later(plan.changes)
        self._carry_out(api, tuple(each for each in plan.changes if each not in later), patience)
        if not self._task.check_mode:
            workloads = [each.ref for each in document.items if stage(each.ref) is Stage.WORKLOADS]
            api.prove([each for each in workloads if not _is_done(each.place, document, seen)], patience)
            self._carry_out(api, later, patience)
            jobs = jobs_done(document.items, seen.inventory.jobs)
            if jobs != seen.inventory.jobs:
                check_cluster(seen, arguments["cluster_uid"], changing=True)
                api.note(name, replace(plan.inventory, jobs=jobs), version)
        else:
            self._carry_out(api, later, patience)
        return {**_told(plan), "changed": changed, "images": list(document.images), "left_out": list(document.left_out)}

    def _begin(self, api: ManifestApi, name: str, plan: ManifestPlan, seen: Seen) -> str | None:
        """The inventory is there before the first object, so that a run that is cut off loses nothing."""
        if not plan.changes and plan.inventory == seen.inventory:
            return seen.version
        deed = Deed.CHANGE if seen.version else Deed.CREATE
        api.demand(needs(plan.changes, None, place(name), deed, Deed.CHANGE))
        if plan.inventory == seen.inventory:
            return seen.version
        return api.note(name, plan.inventory, seen.version)

    def _carry_out(self, api: ManifestApi, changes: tuple[ObjectChange, ...], patience: Patience) -> None:
        crds: list[Ref] = []
        for each in changes:
            if self._task.check_mode and not each.dry:
                continue
            if crds and stage(each.ref) is not Stage.CRDS and not self._task.check_mode:
                api.prove(crds, patience)
                crds = []
            if each.deed is Deed.DELETE:
                api.delete(each, patience.timeout)
            else:
                api.carry_out(each)
            if stage(each.ref) is Stage.CRDS and each.deed is not Deed.DELETE:
                crds.append(each.ref)
        if crds and not self._task.check_mode:
            api.prove(crds, patience)

    def _take_away(self, api: ManifestApi, arguments: Mapping[str, Any], patience: Patience) -> dict[str, Any]:
        name = arguments["name"]
        seen = api.look_back(name)
        check_cluster(seen, arguments["cluster_uid"], changing=False)
        plan = make_removal(seen, name, Permission(arguments["remove_crds"], arguments["remove_in_use"]))
        forgets = seen.version is not None and not plan.inventory.refs
        changes = bool(plan.changes) or forgets
        check_cluster(seen, arguments["cluster_uid"], changing=changes)
        if changes:
            deed = Deed.DELETE if forgets else Deed.CHANGE
            api.demand(needs(plan.changes, None, place(name), deed))
            self._carry_out(api, plan.changes, patience)
            if forgets:
                api.take_away(name)
            elif plan.inventory != seen.inventory:
                api.note(name, plan.inventory, seen.version)
        return {**_told(plan), "changed": changes, "images": [], "left_out": []}

    def _tell(self, message: str) -> None:
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
    told = {"diff": edits, "changes": changes, "kept": plan.kept, "left": plan.left}
    return dict(plain(told))
