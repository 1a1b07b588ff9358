# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kubelet-config of a cluster, and the journal beside it, on its API server."""

from __future__ import annotations

from dataclasses import dataclass

from ..kube.changes import ObjectChange, deletion, text_change
from ..kube.client import Client
from ..kube.identity import ClusterNode, cluster_node
from ..kube.last_applied import record_change
from ..kube.objects import ConfigMap, Ref
from . import journal
from .model import CONFIG_MAP, KEY, NAMESPACE
from .plan import ClusterPlan
from .restore import Return
from .seen import Seen

JOURNAL = Ref("v1", "ConfigMap", journal.NAME, NAMESPACE)


@dataclass(frozen=True)
class KubeadmCluster:
    """A cluster that kubeadm may have made."""

    client: Client

    def seen(self) -> Seen:
        """All that is read before anything is planned."""
        nodes = tuple(map(cluster_node, self.client.list_all("v1", "Node")))
        kept = self._config_map(journal.NAME)
        version = kept.version if kept else None
        return Seen(nodes, self._kubelet_config(nodes), journal.read_journal(kept), version)

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
        return ConfigMap.of(self.client.find(Ref("v1", "ConfigMap", name, NAMESPACE)))


def written_changes(plan: ClusterPlan, version: str | None) -> tuple[ObjectChange, ...]:
    """The journal, which has this version, and then the kubelet-config."""
    if plan.config_map is None or plan.journal is None or plan.after is None:
        return ()
    record = record_change(JOURNAL, journal.written(plan.journal), version)
    return record, text_change(plan.config_map, KEY, plan.after)


def restoring_changes(found: Return) -> tuple[ObjectChange, ...]:
    """The kubelet-config, and then the journal, which is of no use any more."""
    changes = [text_change(found.config_map, KEY, found.after)] if found.config_map and found.after is not None else []
    return (*changes, *([deletion(JOURNAL, None)] if found.forget else []))
