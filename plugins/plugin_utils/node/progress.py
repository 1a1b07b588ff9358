# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The progress of a task on one host: what it does now, and for how long."""

from __future__ import annotations

import time
from collections.abc import Callable

from ..report.readable_numbers import render_seconds

REPEAT_SECONDS = 30.0
"""Seconds after which an unchanged text is shown again."""


class Progress:
    """Shows a text if it is new or was shown long ago, with the time since the task began."""

    def __init__(self, show: Callable[[str], None], now: Callable[[], float] = time.monotonic) -> None:
        self._show = show
        self._now = now
        self._began = now()
        self._last: tuple[str, float] | None = None

    def __call__(self, text: str) -> None:
        now = self._now()
        if self._last is None or text != self._last[0] or now - self._last[1] >= REPEAT_SECONDS:
            self._last = text, now
            self._show(f"{text}, {render_seconds(now - self._began)}")
