# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which cluster a kubeconfig leads to, and which of its Nodes each host of the play is."""

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
    "Nothing was changed. Give the kubeconfig of the cluster of these hosts, and hosts of one cluster at a time."
)
NOT_OBSERVED = "it was not looked at in this run"
SYSTEM_NAMESPACE = "kube-system"


@dataclass(frozen=True)
class HostIdentity:
    """A host of the play: the names that its Node may have, its machine's id, hashed, and its boot's."""

    name: str
    node_names: tuple[str, ...] = ()
    machine_id_sha256: str | None = None
    boot_id: str | None = None


@dataclass(frozen=True)
class ClusterNode:
    """A Node of the API. The ids are those of its kubelet's last start."""

    name: str
    machine_id: str
    boot_id: str
    kubelet: tuple[int, int] | None


def describe_host(system: Mapping[str, Any], hostname_override: str | None = None) -> dict[str, Any]:
    """What tells a host from others, as modules on nodes report it.

    k8s.io/component-helpers node/util/hostname.go: the name is in lower case, without blanks around it.
    """
    names = (hostname_override, system.get("hostname"))
    return {
        "names": list(dict.fromkeys(name.strip().lower() for name in names if name)),
        "machine_id_sha256": system.get("machine_id_sha256"),
        "boot_id": system.get("boot_id"),
    }


def is_observed(observed: Mapping[str, Any] | None) -> bool:
    """Whether a host could be reached and looked at, by what the role's entry `observe` registered on it."""
    return bool((observed or {}).get("kubeadm"))


def parse_identity(name: str, described: Mapping[str, Any]) -> HostIdentity:
    """The identity of a host of the inventory, of what ``describe_host`` reported."""
    names = tuple(dict.fromkeys((*described["names"], name.lower())))
    return HostIdentity(name, names, described["machine_id_sha256"], described["boot_id"])


def parse_node(found: Object) -> ClusterNode:
    """The Node that the API describes."""
    info = (found.get("status") or {}).get("nodeInfo") or {}
    return ClusterNode(
        found["metadata"]["name"],
        info.get("machineID", ""),
        info.get("bootID", ""),
        minor(info.get("kubeletVersion")),
    )


def match_nodes(hosts: Iterable[HostIdentity], nodes: Sequence[ClusterNode]) -> dict[str, str]:
    """The host's name by that of its Node; ClusterError where a host is not a Node of this cluster.

    status.nodeInfo.bootID is /proc/sys/kernel/random/boot_id, and tells one start of one machine from all others.
    Machine ids of cloned machines may be the same, so that with them the name has to agree as well.
    """
    found: dict[str, str] = {}
    strangers = []
    for host in hosts:
        node = _node(host, nodes)
        if isinstance(node, str):
            strangers.append(f"{host.name}: {node}")
        elif node.name in found:
            strangers.append(f"{host.name}: is the Node {node.name}, and so is {found[node.name]}")
        else:
            found[node.name] = host.name
    if strangers:
        raise ClusterError(
            f"This cluster is not that of the play's hosts: {'; '.join(strangers)}", OTHER_CLUSTER_REMEDY
        )
    return found


def _node(host: HostIdentity, nodes: Sequence[ClusterNode]) -> ClusterNode | str:
    """The host's Node, or why none is proven to be."""
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
    """The Nodes that are no host of the play."""
    return tuple(sorted(node.name for node in nodes if node.name not in owners))


def find_node_name(client: Client, host: HostIdentity) -> str:
    """The name of a host's Node. It is looked up by the host's names first: a cluster may have thousands of Nodes."""
    named = [node for node in (client.find(Ref("v1", "Node", name)) for name in host.node_names) if node is not None]
    try:
        return next(iter(match_nodes([host], [parse_node(node) for node in named])))
    except ClusterError:
        nodes = map(parse_node, client.list_all("v1", "Node"))
        return next(iter(match_nodes([host], tuple(nodes))))


def cluster_uid(client: Client) -> str:
    """The UID of the namespace kube-system, which tells clusters apart."""
    found = client.find(Ref("v1", "Namespace", SYSTEM_NAMESPACE))
    if found is None:
        raise ClusterError(
            f"The API server of {client.context.kubeconfig} has no namespace {SYSTEM_NAMESPACE}, or shows none",
            f"{NOTHING_CHANGED}. It tells clusters apart: let the kubeconfig's user get it.",
        )
    return str(found["metadata"]["uid"])


def require_cluster(found: str, uid: str, *, changing: bool) -> None:
    """ClusterError where the kubeconfig leads to another cluster than ``uid``, or a change has no ``uid``."""
    if uid and uid != found:
        raise ClusterError(
            f"The kubeconfig leads to the cluster {found}, and colocation_cluster_uid is {uid}",
            "Nothing was changed. Give the kubeconfig of the cluster that is meant.",
        )
    if changing and not uid:
        raise ClusterError(
            f"The cluster {found} would be changed, and colocation_cluster_uid does not confirm that it is the one"
            " that is meant",
            f"Nothing was changed. If it is, set colocation_cluster_uid: {found} (the UID of its kube-system).",
        )
