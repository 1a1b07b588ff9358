# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Detecting a node that no longer answers, for example because its host is overloaded."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

LIMIT = 400.0
"""Seconds; longer than a boot and than the test that closes a node's port."""


class NodeSilent(Exception):
    """The node has not answered for too long; results of its test are not meaningful."""


@dataclass
class Silence:
    """How long a node has not answered, counted from the first failed check."""

    answers: Callable[[], bool]
    clock: Callable[[], float] = time.monotonic
    since: float | None = None

    def look(self) -> None:
        """Check once; NodeSilent when no check was answered for LIMIT seconds."""
        if self.answers():
            self.since = None
        elif self.since is None:
            self.since = self.clock()
        elif self.clock() - self.since > LIMIT:
            raise NodeSilent(f"the node went silent: it has not answered for {LIMIT:.0f} s")
