# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Progress lines with the seconds since their subject began, on standard error."""

from __future__ import annotations

import sys
import threading
import time

_WRITING = threading.Lock()


class Progress:
    """Says what one subject (an image, a node) is at."""

    def __init__(self, subject: str) -> None:
        self.subject = subject
        self.began = time.monotonic()

    @property
    def elapsed(self) -> float:
        """Seconds since this subject began."""
        return time.monotonic() - self.began

    def say(self, text: str) -> None:
        with _WRITING:
            sys.stderr.write(f"[{self.elapsed:6.1f}s] {self.subject}: {text}\n")
            sys.stderr.flush()
