# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller's way to an API server for the agent's sake: what is read of it, and how a plan's steps are sent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from ..agent import journal
from ..agent.names import APP_LABEL, CONFIG_MAP, NAME
from ..agent.needs import Need
from ..agent.objects import CONFIG_API, CONFIG_KIND, access
from ..agent.seen import AgentSeen, LiveNode, Object, live_node, named, ref
from ..agent.steps import Step, Verb
from ..kubeadm.model import ClusterError
from .cluster import UNTOUCHED, Cluster, cluster_node
from .requests import LOOK, REVIEW, WRITE
from .rest import REFUSED

AGENTS_LEAVE = 180
"""Seconds that pods of a DaemonSet may take to end."""

WAYS: Mapping[Verb, Mapping[str, Any]] = {
    Verb.CREATE: {"state": "present"},
    Verb.REPLACE: {"state": "present", "force": True},
    Verb.MERGE: {"state": "patched"},
    Verb.DELETE: {"state": "absent"},
    Verb.STATUS: {"state": "patched", "subresource": "status"},
}


@dataclass(frozen=True)
class AgentCluster(Cluster):
    """One API server. ``dry_run``: its requests are dry runs."""

    namespace: str = "volcano-system"
    dry_run: bool = False

    def agent_seen(self) -> AgentSeen:
        """All that a plan of objects needs; ClusterError names what could not be read."""
        nodes = self.nodes_seen()
        sets = tuple(_typed("apps/v1", self._read("list daemonsets", kind="DaemonSet", api_version="apps/v1")))
        return replace(
            nodes,
            objects={ref(each): each for each in (*self._access(), *sets)},
            daemon_sets=sets,
            config_map=self._one("v1", "ConfigMap", CONFIG_MAP, self.namespace),
            namespace=self._one("v1", "Namespace", self.namespace) is not None,
            configurations=self._configurations(),
        )

    def nodes_seen(self) -> AgentSeen:
        """The Nodes and the journal: all that labels need."""
        nodes = self.nodes()
        kept = journal.read_journal(self._one("v1", "ConfigMap", journal.NAME, self.namespace))
        return AgentSeen(nodes, {}, (), journal=kept)

    def nodes(self) -> tuple[LiveNode, ...]:
        return tuple(live_node(each, cluster_node(each)) for each in self._read("list nodes", kind="Node"))

    def daemon_sets(self) -> tuple[Object, ...]:
        """Those of the agent in its namespace."""
        return tuple(_typed("apps/v1", self._agents("list daemonsets", kind="DaemonSet", api_version="apps/v1")))

    def pods(self, app: str = NAME) -> tuple[Object, ...]:
        """The agent's pods, or others of ours beside them."""
        return tuple({**each, "kind": "Pod"} for each in _typed("v1", self._agents("list pods", app, kind="Pod")))

    def _agents(self, what: str, app: str = NAME, **arguments: Any) -> list[dict[str, Any]]:
        chosen = {"namespace": self.namespace, "label_selectors": [f"{APP_LABEL}={app}"]}
        return self._read(f"{what} in {self.namespace}", **chosen, **arguments)

    def _access(self) -> Iterator[Object]:
        for each in access(self.namespace):
            metadata = each["metadata"]
            found = self._one(each["apiVersion"], each["kind"], metadata["name"], metadata.get("namespace"))
            if found:
                yield found

    def _one(self, api: str, kind: str, name: str, namespace: str | None = None) -> dict[str, Any] | None:
        where = {"namespace": namespace} if namespace else {}
        what = f"get {kind.lower()}s {name}" + (f" in {namespace}" if namespace else "")
        found = self._read(what, api_version=api, kind=kind, name=name, **where)
        return next(_typed(api, found), None)

    def _configurations(self) -> tuple[Object, ...] | None:
        """None where the API server does not know the kind. Others were read before, so that it answers at all."""
        answer = self._run(LOOK, "list colocationconfigurations", {"api_version": CONFIG_API, "kind": CONFIG_KIND})
        if not answer.get("api_found", True):
            return None
        return tuple(_typed(CONFIG_API, answer["resources"]))

    def demand(self, needs: Iterable[Need]) -> None:
        """ClusterError with every verb that the user does not have."""
        named_ones: dict[Need, list[Need]] = {}
        for each in needs:
            named_ones.setdefault(each.of_all, []).append(each)
        lacks: list[Need] = []
        for of_all, found in named_ones.items():
            if not self._may(of_all):
                missing = [each for each in found if not each.name or not self._may(each)]
                lacks += [of_all] if len(missing) == len(found) else missing
        if lacks:
            raise ClusterError(
                f"The user of {self.kubeconfig} may not {'; '.join(map(str, lacks))}",
                f"{UNTOUCHED}. Grant it; docs/agent.md lists all verbs.",
            )

    def _may(self, need: Need) -> bool:
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": REVIEW,
            "metadata": {},
            "spec": {"resourceAttributes": asdict(need)},
        }
        answer = self._run(WRITE, "create selfsubjectaccessreviews", {"definition": review})
        return bool((answer["result"].get("status") or {}).get("allowed"))

    def _failure(self, what: str, answer: Mapping[str, Any]) -> ClusterError:
        """With the server's words: admission, quotas and namespaces that are on their way out answer with 403 too."""
        if answer.get("status") not in REFUSED:
            return super()._failure(what, answer)
        told = (str(answer.get("msg") or "").strip().splitlines() or ["no reason given"])[-1]
        asked, _blank, target = what.partition(" ")
        verb = answer.get("verb", asked)
        # What is only looked at no admission refuses.
        judged, look = (", or an admission refuses it", ", or look at what refuses it")
        if verb in ("get", "list"):
            judged = look = ""
        return ClusterError(
            f"The user of {self.kubeconfig} may not {verb} {target}{judged}: {told}",
            f"{self.untouched}. Grant the verb, docs/agent.md lists all{look}.",
        )

    def carry_out(self, steps: Sequence[Step]) -> None:
        """Send each step; ClusterError says how many were done before the one that failed."""
        lacks = self.dry_run and self._one("v1", "Namespace", self.namespace) is None
        for number, step in enumerate(steps):
            told = f"{number} of {len(steps)} steps were done before it, and a further run goes on"
            sender = replace(self, untouched=told) if number and not self.dry_run else self
            # A dry run in a namespace that is not there yet would fail for that alone.
            if not (lacks and step.target[1] == self.namespace):
                sender.send(step)

    def send(self, step: Step) -> None:
        """One step."""
        what = f"{step.verb.value} {named(step.target)}"
        self._run(WRITE, what, {"definition": step.body, **WAYS[step.verb], **_waiting(step)})


def _typed(api: str, found: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Members of a list may come without their apiVersion."""
    for each in found:
        yield {"apiVersion": api, **each}


def _waiting(step: Step) -> dict[str, Any]:
    """Agents that still run would write again what is cleaned behind them."""
    if step.verb is not Verb.DELETE or step.target[0] != "DaemonSet":
        return {}
    return {"delete_options": {"propagationPolicy": "Foreground"}, "wait": True, "wait_timeout": AGENTS_LEAVE}
