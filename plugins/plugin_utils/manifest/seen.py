# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was read of a cluster before anything is planned for a manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..kube.objects import Key, Object, Ref
from .inventory import Inventory


@dataclass(frozen=True)
class Seen:
    """``uid`` is the cluster's. ``objects`` are those that are there, ``unserved`` those whose API the server has not.

    ``version`` is the inventory's resourceVersion, None where there is none. ``in_use``: custom resources that would
    be nobody's. ``residents``: what is in the namespaces that would go.
    """

    uid: str
    inventory: Inventory = field(default_factory=Inventory)
    version: str | None = None
    objects: Mapping[Key, Object] = field(default_factory=dict)
    unserved: frozenset[Key] = frozenset()
    in_use: tuple[Ref, ...] = ()
    residents: tuple[Object, ...] = ()

    def found(self, ref: Ref) -> Object | None:
        return self.objects.get(ref.key)
