# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs of a control plane: Kubernetes, by default of the nodes' default kubelet, and etcd."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .. import programs
from ..cache import Cache
from ..program_table import CONTROL_PLANE, ETCD

DEFAULT = "1.35"
FAMILIES = {DEFAULT: "kubernetes-1.35", "1.34": "control-plane-1.34", "1.37": "control-plane-1.37"}
"""By release of Kubernetes."""
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


def obtain(cache: Cache, kubernetes: str = DEFAULT) -> Programs:
    """The programs of a release of Kubernetes, built unless the cache has them."""
    etcd = programs.obtain(cache, ETCD_FAMILY, (ETCD,))
    built = programs.obtain(cache, FAMILIES[kubernetes], CONTROL_PLANE)
    return Programs(built.path(CONTROL_PLANE[0]).parent, etcd.path(ETCD).parent)
