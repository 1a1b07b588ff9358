# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects of any kind, asked for and written one at a time; in check mode every request is a dry run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..kubeadm.model import ClusterError
from ..scheduler.deeds import Deed, Need, ObjectChange
from ..scheduler.objects import Ref
from .cluster import UNTOUCHED, Cluster
from .requests import LOOK, WRITE
from .rest import REFUSED


class ObjectsApi(Cluster):
    """One API server."""

    def _uid(self) -> str:
        for each in self._read("get namespaces kube-system", kind="Namespace", name="kube-system"):
            return str(each["metadata"]["uid"])
        raise ClusterError(
            f"The API server of {self.kubeconfig} has no namespace kube-system, or shows none",
            f"{UNTOUCHED}. It tells clusters apart: let the kubeconfig's user get it.",
        )

    def _found(self, ref: Ref) -> dict[str, Any] | None:
        """One object; None where it, or its whole API, is not there."""
        what = f"get {ref.resource} {ref.name}" + (f" in {ref.namespace}" if ref.namespace else "")
        where = {"namespace": ref.namespace} if ref.namespace else {}
        asked = {"api_version": ref.api_version, "kind": ref.kind, "name": ref.name, **where}
        return next(iter(self._asked(what, asked) or ()), None)

    def _listed(self, api_version: str, kind: str) -> list[dict[str, Any]] | None:
        """All objects of a kind; None where the server does not know it in this version."""
        return self._asked(f"list {Ref(api_version, kind, '').resource}", {"api_version": api_version, "kind": kind})

    def _asked(self, what: str, arguments: dict[str, Any]) -> list[dict[str, Any]] | None:
        answer = self._run(LOOK, what, arguments)
        found: list[dict[str, Any]] | None = answer["resources"] if answer.get("api_found", True) else None
        # Objects of a list come without the kind that they are of.
        kind = {"apiVersion": arguments["api_version"], "kind": arguments["kind"]}
        return None if found is None else [{**each, **kind} for each in found]

    def demand(self, needs: Iterable[Need]) -> None:
        """ClusterError with every verb that the user does not have."""
        lacks = [need for need in needs if not self._may(need)]
        if lacks:
            raise ClusterError(
                f"The user of {self.kubeconfig} may not {'; '.join(map(str, lacks))}",
                f"{UNTOUCHED}. Grant it, docs/scheduler.md lists all verbs.",
            )

    def _may(self, need: Need) -> bool:
        attributes = {
            "verb": need.verb,
            "group": need.group,
            "resource": need.resource,
            "namespace": need.namespace or "",
            "name": need.name or "",
        }
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "metadata": {},
            "spec": {"resourceAttributes": attributes},
        }
        answer = self._run(WRITE, "create selfsubjectaccessreviews", {"definition": review})
        return bool((answer["result"].get("status") or {}).get("allowed"))

    def carry_out(self, change: ObjectChange) -> None:
        """One request; the server refuses a change of another version than was read."""
        states = {Deed.CREATE: "present", Deed.CHANGE: "patched", Deed.DELETE: "absent"}
        what = f"{change.deed.value} {change.ref.resource} {change.ref.name}"
        self._write(what, change.manifest, state=states[change.deed])

    def _failure(self, what: str, answer: Mapping[str, Any]) -> ClusterError:
        if answer.get("status") in REFUSED:
            told = str(answer.get("msg") or "").strip().splitlines()[-1:] or ["no reason given"]
            return ClusterError(
                f"The user of {self.kubeconfig} may not {what}, or an admission refuses it: {told[0]}",
                f"{UNTOUCHED} there. Grant the verb, docs/scheduler.md lists all, or look at what refuses it.",
            )
        return super()._failure(what, answer)
