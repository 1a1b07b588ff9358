# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A configuration file as it was found, and what kept it from being read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Problem:
    """Something that could not be read: in which file, on which line, why, and what to do where that is known."""

    file: str
    message: str
    line: int | None = None
    remedy: str | None = None


def advice(general: str, *problems: Problem) -> str:
    """A general remedy, then those that are known for these problems."""
    known = dict.fromkeys(problem.remedy for problem in problems if problem.remedy)
    return " ".join([general, *(f"{remedy}." for remedy in known)])


@dataclass(frozen=True)
class ConfigFile:
    """A configuration file as found; ``values`` is empty when it is missing or could not be read.

    ``ignored``: a part that its program takes no notice of, such as a second document or a repeated key.

    ``text`` may hold secrets: it is for what goes back to the node, and is never published.
    """

    path: str
    kind: str
    values: Mapping[str, Any] = field(default_factory=dict)
    problem: Problem | None = None
    changed_after_start: bool = False
    ignored: Problem | None = None
    text: str | None = field(default=None, repr=False, compare=False)
