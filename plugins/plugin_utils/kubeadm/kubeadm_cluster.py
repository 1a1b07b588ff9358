# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kubelet-config of a cluster, and the journal beside it, on its API server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..kube.client import Client
from ..kube.identity import ClusterNode, cluster_node
from ..kube.last_applied import write_record
from ..kube.objects import ConfigMap, Ref
from ..kube.permissions import RequiredPermission, require_permissions
from . import journal
from .model import CONFIG_MAP, NAMESPACE
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

    def require_permissions(self, found: ConfigMap | None, *verbs: str) -> None:
        """ClusterError where the user may not write the kubelet-config, or has not these verbs on the journal."""
        permissions = [RequiredPermission.of(verb, JOURNAL) for verb in verbs]
        patch = [RequiredPermission.of("patch", found.ref)] if found else []
        require_permissions(self.client, (*patch, *permissions))

    def keep(self, data: Mapping[str, str], version: str | None) -> None:
        """Write the journal, if it is still as it was read. None for ``version``: there was none."""
        write_record(self.client, JOURNAL, data, version)

    def forget(self) -> None:
        """Delete the journal."""
        self.client.delete(JOURNAL)

    def replace(self, found: ConfigMap, key: str, text: str) -> None:
        """Write one key of a ConfigMap, if it is still as it was read: the API server refuses another version of it."""
        self.client.patch({**found.ref.header(resourceVersion=found.version), "data": {key: text}})
