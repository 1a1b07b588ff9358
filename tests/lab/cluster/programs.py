# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs of a control plane: Kubernetes of the nodes' default kubelet, and etcd."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .. import programs
from ..cache import Cache
from ..program_table import CONTROL_PLANE, ETCD

KUBERNETES_FAMILY = "kubernetes-1.35"
ETCD_FAMILY = "etcd-3.6"


@dataclass(frozen=True)
class Programs:
    """Directories of the programs in the cache."""

    kubernetes: Path
    etcd_directory: Path

    @property
    def etcd(self) -> Path:
        return self.etcd_directory / ETCD

    def path(self, name: str) -> Path:
        """One of ``CONTROL_PLANE``."""
        return self.kubernetes / name


def obtain(cache: Cache) -> Programs:
    """The programs, built unless the cache has them."""
    etcd = programs.obtain(cache, ETCD_FAMILY, (ETCD,))
    kubernetes = programs.obtain(cache, KUBERNETES_FAMILY, CONTROL_PLANE)
    return Programs(kubernetes.path(CONTROL_PLANE[0]).parent, etcd.path(ETCD).parent)
