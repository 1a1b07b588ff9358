# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Time, as one thing that can be given to the engine."""

from __future__ import annotations

import time


class Clock:
    """The machine's clocks."""

    def monotonic(self) -> float:
        """Seconds for measuring how long something takes."""
        return time.monotonic()

    def wall(self) -> float:
        """Seconds since 1970, the clock of file times and log lines."""
        return time.time()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)
