# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the configuration of all nodes of a cluster may be written for the sake of some of them."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from .model import Host


class Permission(Enum):
    """What the user says: nothing, which takes every node's agreement; write it all the same; leave it."""

    WHERE_ALL_AGREE = None
    GIVEN = True
    DENIED = False

    def reasons(self, hosts: Sequence[Host], others: Sequence[str]) -> tuple[str, ...]:
        """Why nothing is written; ``others`` are the Nodes that are no host of the play."""
        if self is Permission.GIVEN:
            return ()
        if self is Permission.DENIED:
            return ("colocation_kubeadm_edit_configmap is false",)
        strangers = tuple(f"{name}: not a host of this run" for name in others)
        return strangers + tuple(f"{host.name}: {host.lacks}" for host in hosts if host.lacks)
