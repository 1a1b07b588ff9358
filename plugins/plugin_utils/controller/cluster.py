# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller's way to an API server: what is asked of it, and what is said when it does not answer as hoped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..kubeadm import journal
from ..kubeadm.model import CONFIG_MAP, NAMESPACE, ClusterError, ClusterNode, ConfigMap
from ..kubeadm.seen import Seen
from ..versions import minor
from .requests import LOOK, WRITE, Requests
from .rest import CONFLICT, REFUSED

UNTOUCHED = "Nothing was changed"


@dataclass(frozen=True)
class Cluster:
    """One API server, by the requests that lead to it. In check mode each that writes is a dry run."""

    ask: Requests
    kubeconfig: str
    untouched: str = UNTOUCHED
    otherwise: str = ", or set colocation_kubeadm_configmap to false to write nothing to the cluster"
    """What a message says of what was done before, and of a way without the permission that is missing."""

    def seen(self) -> Seen:
        """All that is read before anything is planned; ClusterError names what could not be."""
        nodes = tuple(cluster_node(each) for each in self._read("list nodes", kind="Node"))
        return Seen(nodes, self._kubelet_config(nodes), journal.read_journal(self._config_map(journal.NAME)))

    def _kubelet_config(self, nodes: tuple[ClusterNode, ...]) -> ConfigMap | None:
        """Before 1.24 there is one for each minor version, and that of the newest kubelet is the control plane's.

        cmd/kubeadm/app/constants/constants.go, GetKubeletConfigMapName.
        """
        versions = sorted({node.kubelet for node in nodes if node.kubelet}, reverse=True)
        for name in (CONFIG_MAP, *(f"{CONFIG_MAP}-{major}.{number}" for major, number in versions)):
            found = self._config_map(name)
            if found:
                return found
        return None

    def _config_map(self, name: str) -> ConfigMap | None:
        what = f"get configmaps {name} in {NAMESPACE}"
        for each in self._read(what, kind="ConfigMap", name=name, namespace=NAMESPACE):
            return ConfigMap(name, each.get("data") or {}, each["metadata"]["resourceVersion"])
        return None

    def keep(self, data: Mapping[str, str]) -> None:
        """Write the journal."""
        self._write(f"create or patch configmaps {journal.NAME} in {NAMESPACE}", _object(journal.NAME, data))

    def forget(self) -> None:
        """Take the journal away."""
        self._write(f"delete configmaps {journal.NAME} in {NAMESPACE}", _object(journal.NAME), state="absent")

    def replace(self, found: ConfigMap, key: str, text: str) -> None:
        """Write one key of a ConfigMap, if it is still as it was read: the API server refuses another version of it."""
        wanted = _object(found.name, {key: text}, resourceVersion=found.version)
        self._write(f"patch configmaps {found.name} in {NAMESPACE}", wanted, state="patched")

    def _read(self, what: str, **arguments: Any) -> list[dict[str, Any]]:
        answer = self._run(LOOK, what, {"api_version": "v1", **arguments})
        if not answer.get("api_found", True):
            raise ClusterError(
                f"The API server of {self.kubeconfig} could not be asked: {answer.get('msg', 'no answer')}",
                f"{self.untouched}. Look at the server and at what the kubeconfig's user may do.",
            )
        found: list[dict[str, Any]] = answer["resources"]
        return found

    def _write(self, what: str, wanted: Mapping[str, Any], **arguments: Any) -> None:
        self._run(WRITE, what, {"definition": wanted, **arguments})

    def _run(self, asked: str, what: str, arguments: dict[str, Any]) -> dict[str, Any]:
        answer = self.ask(asked, arguments)
        if answer.get("failed"):
            raise self._failure(what, answer)
        return answer

    def _failure(self, what: str, answer: Mapping[str, Any]) -> ClusterError:
        status = answer.get("status")
        if status in REFUSED:
            return ClusterError(
                f"The user of {self.kubeconfig} may not {what}",
                f"{self.untouched}. Grant it{self.otherwise}.",
            )
        if status == CONFLICT:
            return ClusterError(
                f"Could not {what}: somebody else changed it after it was read",
                "Nothing of it was overwritten. Run again, which reads it anew.",
            )
        told = str(answer.get("msg") or "").strip() or "no reason given"
        return ClusterError(
            f"Could not {what} with {self.kubeconfig}: {told.splitlines()[-1]}",
            f"{self.untouched} there. Look at the API server, and whether the kubeconfig leads to it.",
        )


def _object(name: str, data: Mapping[str, str] | None = None, **metadata: str) -> dict[str, Any]:
    definition: dict[str, Any] = {"apiVersion": "v1", "kind": "ConfigMap"}
    definition["metadata"] = {"name": name, "namespace": NAMESPACE, **metadata}
    return definition if data is None else {**definition, "data": dict(data)}


def cluster_node(found: Mapping[str, Any]) -> ClusterNode:
    """The Node that the API describes."""
    info = (found.get("status") or {}).get("nodeInfo") or {}
    return ClusterNode(
        found["metadata"]["name"],
        info.get("machineID", ""),
        info.get("bootID", ""),
        minor(info.get("kubeletVersion")),
    )
