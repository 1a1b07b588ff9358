# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Progress lines on standard error, with the seconds since their subject began."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator

REPEAT_SECONDS = 20.0

_WRITING = threading.Lock()


class Progress:
    """Progress lines of one subject (an image, a node)."""

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

    @contextlib.contextmanager
    def repeated(self, text: str) -> Iterator[None]:
        """Print ``text`` every ``REPEAT_SECONDS`` while the body runs."""
        over = threading.Event()

        def repeat() -> None:
            while not over.wait(REPEAT_SECONDS):
                self.say(text)

        repeater = threading.Thread(target=repeat, daemon=True)
        repeater.start()
        try:
            yield
        finally:
            over.set()
            repeater.join()
