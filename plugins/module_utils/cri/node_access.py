# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The node as the engine sees it: its files, its clock and its container runtime."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..host import Clock, Host
from .runtime_client import CRI_TIMEOUT, CriClient, socket_path


@dataclass(frozen=True)
class Node:
    """One node. The engine accesses the node only through this class.

    ``engine`` is the directory of the engine that is installed on the node and rolls back an open transaction at boot;
    empty in an image, which does not boot.
    """

    host: Host
    clock: Clock = field(default_factory=Clock)
    engine: str = ""

    def cri(self, endpoint: str, timeout: float = CRI_TIMEOUT) -> CriClient:
        """A client of the runtime at ``endpoint``; each call takes ``timeout`` seconds at most."""
        return CriClient(self.host.real_path(socket_path(endpoint)), timeout)
