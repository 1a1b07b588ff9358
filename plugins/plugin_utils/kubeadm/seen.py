# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was read of a cluster, all before anything is planned."""

from __future__ import annotations

from dataclasses import dataclass

from ..kube.identity import ClusterNode
from ..kube.objects import ConfigMap
from .journal import Journal


@dataclass(frozen=True)
class Seen:
    """``config_map`` is the kubelet-config that kubeadm reads now; None where there is none."""

    nodes: tuple[ClusterNode, ...]
    config_map: ConfigMap | None
    journal: Journal | None
    journal_version: str | None = None
