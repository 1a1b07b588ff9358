# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Patterns of Go's path/filepath, Match: ``*`` and ``?`` stay within a folder, ``[^a-c]`` negates, ``\\`` escapes."""

from __future__ import annotations

import re

_ONE = r"(?:\\(?P<{0}e>.)|(?P<{0}>[^\\\]-]))"
_RANGE = re.compile(rf"{_ONE.format('low')}(?:-{_ONE.format('high')})?", re.DOTALL)
_SET = re.compile(r"\[(?P<not>\^?)(?P<ranges>(?:\\.|[^\\\]])+)\]", re.DOTALL)
_NEVER = "(?!)"


def matcher(pattern: str) -> re.Pattern[str] | None:
    """A regular expression for a whole path; None for a pattern that Go refuses (ErrBadPattern)."""
    found, place = [], 0
    while place < len(pattern):
        char = pattern[place]
        if char == "[":
            read = _set(pattern, place)
            if read is None:
                return None
            text, place = read
            found.append(text)
            continue
        if char == "\\":
            place += 1
            if place == len(pattern):
                return None
            found.append(re.escape(pattern[place]))
        else:
            found.append({"*": "[^/]*", "?": "[^/]"}.get(char, re.escape(char)))
        place += 1
    return re.compile("".join(found), re.DOTALL)


def _set(pattern: str, place: int) -> tuple[str, int] | None:
    """The set at ``place`` as that of a regular expression, and where it ends."""
    whole = _SET.match(pattern, place)
    if whole is None:
        return None
    ranges, position, text = whole["ranges"], 0, ""
    while position < len(ranges):
        one = _RANGE.match(ranges, position)
        if one is None:
            return None
        low = one["lowe"] or one["low"]
        high = one["highe"] or one["high"] or low
        text += f"{re.escape(low)}-{re.escape(high)}" if low <= high else ""
        position = one.end()
    if not text:
        return ("[^/]" if whole["not"] else _NEVER), whole.end()
    return f"(?!/)[{whole['not']}{text}]", whole.end()
