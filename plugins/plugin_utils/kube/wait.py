# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waiting for objects of an API server."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from .client import Client
from .errors import ClusterError
from .objects import Ref

POLL_DELETED = 2.0
"""Seconds between two looks at an object that is being deleted."""


@dataclass(frozen=True)
class WaitOptions:
    """``timeout`` in seconds, for all that is waited for at once; ``show`` is for the person who watches."""

    timeout: float
    sleep: Callable[[float], None] = time.sleep
    show: Callable[[str], None] = lambda _message: None


def delete_and_wait(client: Client, ref: Ref, options: WaitOptions) -> None:
    """Delete an object with all that it owns, and wait until they no longer exist. A dry run does not wait."""
    client.delete(ref, propagation="Foreground")
    remaining = 0.0 if client.dry_run else options.timeout
    while remaining > 0 and client.find(ref) is not None:
        options.sleep(POLL_DELETED)
        remaining -= POLL_DELETED
        if remaining <= 0:
            raise ClusterError(
                f"{ref.place} still exists {options.timeout:g} s after it was deleted",
                "Look at its finalizers and at what it owns, and run again.",
            )
