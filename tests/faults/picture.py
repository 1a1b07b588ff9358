# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node as guest/picture.py recorded it, and the differences of two pictures."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Picture:
    """``files``: mode, owner and hash by path; ``planned``: hash by path of the last committed files, None: removed.

    ``pods``: a cgroup path for each container. ``managed``: units of the collection.
    """

    files: Mapping[str, str]
    checkpoints: Mapping[str, str]
    units: Mapping[str, str]
    pods: tuple[str, ...]
    managed: tuple[str, ...]
    unfinished: tuple[str, ...]
    planned: Mapping[str, str | None]


def parse_picture(text: str) -> Picture:
    """Parse the JSON that the node printed."""
    values: dict[str, Any] = json.loads(text)
    values["managed"] = values.pop("ours")
    for name in ("pods", "managed", "unfinished"):
        values[name] = tuple(values[name])
    return Picture(**values)


def differences(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    """Describe the difference of each key."""
    for key in sorted({*before, *after}):
        if before.get(key) != after.get(key):
            yield f"{key}: {before.get(key, 'absent')} -> {after.get(key, 'absent')}"
