# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which Node of the cluster each host of the play is: the kubeconfig must lead to the cluster of these hosts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence

from .model import ClusterError, ClusterNode, Host

REMEDY = "Nothing was changed. Give the kubeconfig of the cluster of these hosts, and hosts of one cluster at a time."


def matched(hosts: Iterable[Host], nodes: Sequence[ClusterNode]) -> dict[str, str]:
    """The host's name by that of its Node; ClusterError where a host is no Node of this cluster.

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
        raise ClusterError(f"This cluster is not that of the play's hosts: {'; '.join(strangers)}", REMEDY)
    return found


def _node(host: Host, nodes: Sequence[ClusterNode]) -> ClusterNode | str:
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


def outside(nodes: Iterable[ClusterNode], owners: Mapping[str, str]) -> tuple[str, ...]:
    """The Nodes that are no host of the play."""
    return tuple(sorted(node.name for node in nodes if node.name not in owners))
