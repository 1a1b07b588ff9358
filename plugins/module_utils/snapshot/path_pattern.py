# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Patterns of paths as glob(3) reads them: for systemd's EnvironmentFile=, and on both sides."""

from __future__ import annotations

import fnmatch
import re

from ..host import Host

MAX_FOLDERS = 256


def is_pattern(path: str) -> bool:
    """Whether glob(3) would look for other names than this one."""
    return bool(set(path) & set("*?["))


def matches(path: str, pattern: str) -> bool:
    """``*`` stays within one folder and passes over hidden names, unless the pattern begins with a dot there."""
    names, parts = path.split("/"), pattern.split("/")
    return len(names) == len(parts) and all(_is_match(name, part) for name, part in zip(names, parts))


def _is_match(name: str, part: str) -> bool:
    if not is_pattern(part):
        return name == part
    try:
        return (part.startswith(".") or not name.startswith(".")) and fnmatch.fnmatchcase(
            name, part.replace("[^", "[!")
        )
    except re.error:
        return False


def expanded(host: Host, pattern: str, limit: int) -> list[str] | None:
    """The paths that match, in order; None where there are more than ``limit``, or too many folders to look at."""
    found = [""]
    for part in pattern.split("/")[1:]:
        if not is_pattern(part):
            found = [folder + "/" + part for folder in found]
            continue
        if len(found) > MAX_FOLDERS:
            return None
        found = [folder + "/" + name for folder in found for name in _names(host, folder) if _is_match(name, part)]
    existing = sorted(path for path in found if _exists(host, path))
    return existing if len(existing) <= limit else None


def _names(host: Host, folder: str) -> list[str]:
    try:
        return host.list(folder or "/")
    except OSError:
        return []


def _exists(host: Host, path: str) -> bool:
    try:
        host.lstat(path)
    except OSError:
        return False
    return True
