# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was read of a cluster for the agent's sake, all before anything is planned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..kube.identity import ClusterNode
from ..kube.objects import Object, Ref
from .journal import Journal
from .names import BATCH_CPU, BATCH_MEMORY, CONFIG_MAP, KEY, OWNER, OWNER_LABEL


@dataclass(frozen=True)
class LiveNode:
    """A Node; ``identity`` tells which machine it is.

    ``reported`` are the agent's resources that pods can have of it, ``listed`` those of its status, capacity included.
    """

    identity: ClusterNode
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    taints: tuple[Object, ...]
    reported: Mapping[str, str]
    version: str
    listed: Mapping[str, str] = field(default_factory=dict)
    found: Object | None = field(default=None, repr=False, compare=False)

    @property
    def name(self) -> str:
        return self.identity.name


@dataclass(frozen=True)
class AgentSeen:
    """``objects`` are those that we make, as far as they are there; ``configurations`` is None without their CRD."""

    nodes: tuple[LiveNode, ...]
    objects: Mapping[Ref, Object]
    daemon_sets: tuple[Object, ...]
    config_map: Object | None = None
    journal: Journal | None = None
    namespace: bool = True
    configurations: tuple[Object, ...] | None = None

    @property
    def text(self) -> str | None:
        """The agent's configuration; None where it has none."""
        found = ((self.config_map or {}).get("data") or {}).get(KEY)
        return None if found is None else str(found)


def live_node(found: Object, identity: ClusterNode) -> LiveNode:
    metadata, status = found["metadata"], found.get("status") or {}
    allocatable = status.get("allocatable") or {}
    return LiveNode(
        identity,
        metadata.get("labels") or {},
        metadata.get("annotations") or {},
        tuple((found.get("spec") or {}).get("taints") or ()),
        _batch(allocatable),
        metadata.get("resourceVersion", ""),
        _batch({**(status.get("capacity") or {}), **allocatable}),
        found,
    )


def _batch(amounts: Object) -> dict[str, str]:
    return {name: str(amounts[name]) for name in (BATCH_CPU, BATCH_MEMORY) if name in amounts}


def config_map_ref(namespace: str) -> Ref:
    return Ref("v1", "ConfigMap", CONFIG_MAP, namespace)


def is_ours(live: Object | None) -> bool:
    """Whether the collection made the object."""
    labels = ((live or {}).get("metadata") or {}).get("labels") or {}
    return bool(labels.get(OWNER_LABEL) == OWNER)
