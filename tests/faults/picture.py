# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node as guest/picture.py saw it, and what two pictures differ in."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Picture:
    """``files``: mode, owner and hash by path; ``planned``: hash by path of what was committed last, None: removed.

    ``pods`` has a cgroup path for each container; ``ours`` what of the collection is among the units.
    """

    files: Mapping[str, str]
    checkpoints: Mapping[str, str]
    units: Mapping[str, str]
    pods: tuple[str, ...]
    ours: tuple[str, ...]
    unfinished: tuple[str, ...]
    planned: Mapping[str, str | None]


def parse_picture(text: str) -> Picture:
    """A Picture of the JSON that the node printed."""
    values: dict[str, Any] = json.loads(text)
    for name in ("pods", "ours", "unfinished"):
        values[name] = tuple(values[name])
    return Picture(**values)


def differences(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    """In words, one for each key."""
    for key in sorted({*before, *after}):
        if before.get(key) != after.get(key):
            yield f"{key}: {before.get(key, 'absent')} -> {after.get(key, 'absent')}"
