# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers for people: counts with their word, durations."""

from __future__ import annotations


def render_count(number: int, word: str = "host") -> str:
    """A number with its word, such as ``1 host`` or ``3 hosts``."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def render_seconds(seconds: float) -> str:
    """A duration such as ``12 s`` or ``3 min 5 s``."""
    minutes, remainder = divmod(round(seconds), 60)
    return f"{minutes} min {remainder} s" if minutes else f"{remainder} s"
