# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Identify the cluster of a kubeconfig, and the Node of each host of the play."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..releases.versions import minor
from .api_errors import NOTHING_CHANGED, ClusterError
from .dynamic_client import Client
from .objects import Object, Ref

OTHER_CLUSTER_REMEDY = (
    "Nothing was changed. Give the kubeconfig of the cluster of these hosts, and run for the hosts of one cluster."
)
NOT_OBSERVED = "it was not observed in this run"
SYSTEM_NAMESPACE = "kube-system"


@dataclass(frozen=True)
class HostIdentity:
    """A host of the play: possible names of its Node, the hash of its machine id, and its boot id."""

    name: str
    node_names: tuple[str, ...] = ()
    machine_id_sha256: str | None = None
    boot_id: str | None = None


@dataclass(frozen=True)
class ClusterNode:
    """A Node of the API server. The ids are those that its kubelet reported at its last start."""

    name: str
    machine_id: str
    boot_id: str
    kubelet: tuple[int, int] | None


def describe_host(system: Mapping[str, Any], hostname_override: str | None = None) -> dict[str, Any]:
    """The identity of a host, as modules on nodes report it.

    k8s.io/component-helpers node/util/hostname.go: the name is in lower case, without surrounding whitespace.
    """
    names = (hostname_override, system.get("hostname"))
    return {
        "names": list(dict.fromkeys(name.strip().lower() for name in names if name)),
        "machine_id_sha256": system.get("machine_id_sha256"),
        "boot_id": system.get("boot_id"),
    }


def is_observed(observed: Mapping[str, Any] | None) -> bool:
    """Whether a host was reached and observed, according to what the role's entry `observe` registered on it."""
    return bool((observed or {}).get("kubeadm"))


def parse_identity(name: str, described: Mapping[str, Any]) -> HostIdentity:
    """The identity of an inventory host from the result of ``describe_host``."""
    names = tuple(dict.fromkeys((*described["names"], name.lower())))
    return HostIdentity(name, names, described["machine_id_sha256"], described["boot_id"])


def parse_node(manifest: Object) -> ClusterNode:
    """A Node from its manifest."""
    info = (manifest.get("status") or {}).get("nodeInfo") or {}
    return ClusterNode(
        manifest["metadata"]["name"],
        info.get("machineID", ""),
        info.get("bootID", ""),
        minor(info.get("kubeletVersion")),
    )


def match_nodes(hosts: Iterable[HostIdentity], nodes: Sequence[ClusterNode]) -> dict[str, str]:
    """Names of hosts by the names of their Nodes; ClusterError where a host is not a Node of this cluster.

    status.nodeInfo.bootID is /proc/sys/kernel/random/boot_id, which identifies one boot of one machine. Cloned machines
    may have the same machine id, so a match by machine id requires the same name too.
    """
    hosts_by_node: dict[str, str] = {}
    mismatches = []
    for host in hosts:
        node = _node(host, nodes)
        if isinstance(node, str):
            mismatches.append(f"{host.name}: {node}")
        elif node.name in hosts_by_node:
            mismatches.append(f"{host.name}: is the Node {node.name}, and so is {hosts_by_node[node.name]}")
        else:
            hosts_by_node[node.name] = host.name
    if mismatches:
        raise ClusterError(
            f"This cluster is not that of the play's hosts: {'; '.join(mismatches)}", OTHER_CLUSTER_REMEDY
        )
    return hosts_by_node


def _node(host: HostIdentity, nodes: Sequence[ClusterNode]) -> ClusterNode | str:
    """The host's Node, or the reason why no Node matches."""
    booted = [node for node in nodes if host.boot_id and node.boot_id == host.boot_id]
    if len(booted) == 1:
        return booted[0]
    named = [node for node in nodes if node.name in host.node_names]
    if not named:
        return f"no Node is called {' or '.join(host.node_names)}, and none has its boot id"
    same = [node for node in named if host.machine_id_sha256 == _hash(node.machine_id)]
    if same:
        return same[0]
    unknown = host.machine_id_sha256 is None or not any(node.machine_id for node in named)
    what = "no machine id to compare" if unknown else "another machine id"
    return f"the Node {named[0].name} has {what}"


def _hash(machine_id: str) -> str:
    return hashlib.sha256(machine_id.encode()).hexdigest()


def unmatched_nodes(nodes: Iterable[ClusterNode], owners: Mapping[str, str]) -> tuple[str, ...]:
    """Names of the Nodes that are not hosts of the play."""
    return tuple(sorted(node.name for node in nodes if node.name not in owners))


def find_node_name(client: Client, host: HostIdentity) -> str:
    """The name of a host's Node. The host's names are tried first: a cluster may have thousands of Nodes."""
    named = [node for node in (client.find(Ref("v1", "Node", name)) for name in host.node_names) if node is not None]
    try:
        return next(iter(match_nodes([host], [parse_node(node) for node in named])))
    except ClusterError:
        nodes = map(parse_node, client.list_all("v1", "Node"))
        return next(iter(match_nodes([host], tuple(nodes))))


def cluster_uid(client: Client) -> str:
    """The UID of the namespace kube-system, which identifies the cluster."""
    namespace = client.find(Ref("v1", "Namespace", SYSTEM_NAMESPACE))
    if namespace is None:
        raise ClusterError(
            f"The API server of {client.context.kubeconfig} has no namespace {SYSTEM_NAMESPACE}, or does not show it",
            f"{NOTHING_CHANGED}. Its UID identifies the cluster: allow the kubeconfig's user to get it.",
        )
    return str(namespace["metadata"]["uid"])


def require_cluster(actual: str, uid: str, *, changing: bool) -> None:
    """ClusterError where the kubeconfig leads to another cluster than ``uid``, or a change has no ``uid``."""
    if uid and uid != actual:
        raise ClusterError(
            f"The kubeconfig leads to the cluster {actual}, and colocation_cluster_uid is {uid}",
            "Nothing was changed. Give the kubeconfig of the intended cluster.",
        )
    if changing and not uid:
        raise ClusterError(
            f"The cluster {actual} would be changed, and colocation_cluster_uid does not confirm that it is the"
            " intended one",
            f"Nothing was changed. If it is, set colocation_cluster_uid: {actual} (the UID of its kube-system).",
        )
