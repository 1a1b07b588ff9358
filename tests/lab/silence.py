# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a node still answers: an emulated one may go silent for reasons of the machine it runs on."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

LIMIT = 400.0
"""Seconds; a boot takes less, and so does the test that closes a node's port."""


class NodeSilent(Exception):
    """The node has said nothing for too long: nothing that is seen of it tells anything any more."""


@dataclass
class Silence:
    """How long a node has not answered. It counts from the first look that found it so."""

    answers: Callable[[], bool]
    clock: Callable[[], float] = time.monotonic
    since: float | None = None

    def look(self) -> None:
        """NodeSilent when the node has not answered at any look for LIMIT seconds."""
        if self.answers():
            self.since = None
        elif self.since is None:
            self.since = self.clock()
        elif self.clock() - self.since > LIMIT:
            raise NodeSilent(f"the node went silent: it has not answered for {LIMIT:.0f} s")
