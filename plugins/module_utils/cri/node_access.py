# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the engine works on: the node's files and programs, its runtime, and the clock."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..host import Clock, Host
from .runtime_client import CriClient, socket_path

CRI_TIMEOUT = 10.0


@dataclass(frozen=True)
class Node:
    """One node. It is the only way by which the engine reaches anything.

    ``engine`` is the directory on the node of the installed engine, which undoes an open transaction at boot; empty where
    nothing boots, as in an image.
    """

    host: Host
    clock: Clock = field(default_factory=Clock)
    engine: str = ""

    def cri(self, endpoint: str, timeout: float = CRI_TIMEOUT) -> CriClient:
        """A client of the runtime at ``endpoint``; each call takes ``timeout`` seconds at most."""
        return CriClient(self.host.real_path(socket_path(endpoint)), timeout)
