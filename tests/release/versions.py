# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Versions of releases: galaxy.yml has the current one, tags have the released ones."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .errors import ReleaseError

VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
LINE = re.compile(r"^version: .*$", re.MULTILINE)


def parse_version(text: str) -> tuple[int, ...]:
    """A final version as numbers. ReleaseError for any other text."""
    match = VERSION.fullmatch(text)
    if match is None:
        raise ReleaseError(f"VERSION={text} is not a version; use three numbers, such as VERSION=1.2.3")
    return tuple(map(int, match.groups()))


def check_newer(version: str, tags: Iterable[str]) -> None:
    """ReleaseError unless the version is newer than all released ones."""
    new = parse_version(version)
    released = [tag for tag in tags if VERSION.fullmatch(tag)]
    newest = max(released, key=parse_version, default=None)
    if newest is not None and parse_version(newest) >= new:
        raise ReleaseError(f"version {newest} is already released (a tag has this name); use a newer VERSION")


def set_version(galaxy: str, version: str) -> str:
    """The text of galaxy.yml with another version. ReleaseError if it does not have one line for it."""
    text, count = LINE.subn(f"version: {version}", galaxy)
    if count != 1:
        raise ReleaseError(f"galaxy.yml has {count} lines that begin with 'version:'; keep one")
    return text
