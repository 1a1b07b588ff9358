# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The known name that is nearest to a misspelled one."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches


def nearest_name(name: str, known: Collection[str]) -> str | None:
    """The nearest known name; None if no name is near."""
    return next(iter(get_close_matches(name, sorted(known), n=1)), None)


def did_you_mean(name: str, known: Collection[str]) -> str:
    """The end of a sentence about an unknown name: a question with the nearest one; empty if no name is near."""
    nearest = nearest_name(name, known)
    return f"; did you mean {nearest}?" if nearest else ""
