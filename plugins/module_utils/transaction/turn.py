# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The node's lock for work of some seconds that is no transaction: settings of cgroups, slices.

Who needs qos.lock as well takes that one afterwards. The unit that applies settings again takes it alone: a transaction
that starts kubelet starts that unit too.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import Iterator

from ..host import Host
from . import files
from .clock import Clock
from .lock import CLOCK, hold, require_lockable
from .store import PLAN, STATE_FOLDER, Store

PATIENCE = 60.0
"""Seconds to wait for others of its kind; a transaction may take longer, and is named then."""


@contextmanager
def turn(host: Host, holder: str, clock: Clock = CLOCK) -> Iterator[None]:
    """Nobody else is at work on the node meanwhile; LockHeld, which names who is, after PATIENCE seconds."""
    with hold(Store(host).lock_path, holder, clock, PATIENCE):
        yield


def require_turn(host: Host) -> None:
    """FileRefused where ``turn`` could not lock the node; nothing is made or waited for."""
    require_lockable(Store(host).lock_path)
    files.probe(host, f"{STATE_FOLDER}/{PLAN}", b"")
