# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A thread that calls a function while something takes long, after pauses that double."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Heartbeat:
    """Calls ``beat`` after ``first`` seconds, and then after twice the pause before. 0 seconds: never."""

    def __init__(self, first: float, beat: Callable[[], None]) -> None:
        self._first = first
        self._beat = beat
        self._timer: threading.Timer | None = None
        self._lock = threading.Lock()

    def start(self) -> None:
        """Begin again with the first pause."""
        self.stop()
        if self._first > 0:
            with self._lock:
                self._schedule(self._first)

    def stop(self) -> None:
        """After this no call begins."""
        with self._lock:
            if self._timer:
                self._timer.cancel()
            self._timer = None

    def _schedule(self, pause: float) -> None:
        self._timer = threading.Timer(pause, lambda: self._call(pause))
        self._timer.daemon = True
        self._timer.start()

    def _call(self, pause: float) -> None:
        with self._lock:
            if self._timer is threading.current_thread():
                self._beat()
                self._schedule(2 * pause)
