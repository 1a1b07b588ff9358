# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the lines of a text begin and end."""

from __future__ import annotations

BOM = "\ufeff"
NEWLINE = "\n"


def line_end_style(text: str, position: int) -> str:
    """The line end that a new line at ``position`` gets: that of the line before, else the first of the text."""
    end = text.rfind(NEWLINE, 0, position)
    if end < 0:
        end = text.find(NEWLINE)
    return "\r\n" if end > 0 and text[end - 1] == "\r" else NEWLINE


def line_start(text: str, position: int) -> int:
    """Index of the first character of the line that holds ``position``."""
    return text.rfind(NEWLINE, 0, position) + 1


def line_end(text: str, position: int) -> int:
    """Index behind the line break of the line that holds ``position``."""
    end = text.find(NEWLINE, position)
    return len(text) if end < 0 else end + 1


def line_number(text: str, position: int) -> int:
    """1-based line of a position, for messages."""
    return text.count(NEWLINE, 0, position) + 1
