# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which Node a host is, asked for by its names first: a cluster may have thousands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..kubeadm.hosts import NOT_SEEN, read_host
from ..kubeadm.identity import matched
from ..kubeadm.model import ClusterError
from .cluster import cluster_node
from .node_api import NodeApi


def node_name(name: str, observed: Mapping[str, Any] | None, api: NodeApi) -> str:
    """The host's Node; ClusterError where it was not looked at, or the kubeconfig is that of another cluster.

    ``observed`` is what the role's entry `observe` registered on the host.
    """
    host = read_host(name, observed, None, planned=True)
    if host.lacks == NOT_SEEN:
        raise ClusterError(f"{name}: {NOT_SEEN}, so that its Node is not known", "Run the entry observe before.")
    named = [found for found in map(api.known, host.node_names) if found is not None]
    try:
        return next(iter(matched([host], [cluster_node(each) for each in named])))
    except ClusterError:
        return next(iter(matched([host], [cluster_node(each) for each in api.nodes()])))
