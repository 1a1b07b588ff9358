# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading of systemd unit files, of the environment files they name, and of patterns of paths as glob(3) reads them.

Both sides use it.
"""

from __future__ import annotations

import fnmatch
import re
import shlex
from collections.abc import Iterator

from ..host import Host

LONGEST = 1 << 16
"""Characters; a longer text is no command line, and taking it apart word by word would take seconds."""
_ASSIGNMENT = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*=(.*)", re.DOTALL)


def _logical_lines(text: str) -> Iterator[str]:
    """Lines without comments, joined where they end in a backslash; comments may stand between, systemd.syntax(7)."""
    pending = ""
    for line in text.splitlines():
        if line.lstrip().startswith(("#", ";")):
            continue
        if line.endswith("\\"):
            pending += line[:-1] + " "
        else:
            yield pending + line
            pending = ""
    if pending:
        yield pending


def section_settings(text: str, section: str = "Service") -> list[tuple[str, str]]:
    """``(key, value)`` of one section of a unit file, in order; an empty value resets what came before."""
    found = []
    inside = False
    for line in _logical_lines(text):
        stripped = line.strip()
        if stripped.startswith("["):
            inside = stripped == "[%s]" % section
        elif inside and "=" in stripped:
            key, _equals, value = stripped.partition("=")
            found.append((key.strip(), value.strip()))
    return found


def split_words(text: str) -> list[str]:
    """Words as systemd splits them: at white space, quotes taken off. A text with unpaired quotes is split plainly."""
    if len(text) > LONGEST:
        return []
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def environment_files(text: str) -> list[str]:
    """The paths of EnvironmentFile= in a unit file, ``-`` for optional kept; ``""`` stands for a reset."""
    return [value for key, value in section_settings(text) if key == "EnvironmentFile"]


def parse_environment(text: str) -> dict[str, str]:
    """Variables of an environment file, systemd.exec(5): no comments, outer quotes taken off, the last one wins."""
    found = {}
    lines = _logical_lines(text)
    for line in lines:
        assigned = _ASSIGNMENT.match(line)
        if assigned:
            found[assigned[1]] = _unquote(_join_quoted_lines(assigned[2].strip(), lines))
    return found


def _join_quoted_lines(value: str, following: Iterator[str]) -> str:
    """A value that begins with a quote goes on over the lines until that quote ends it."""
    quote = value[:1]
    if quote in ("'", '"') and quote not in value[1:]:
        for line in following:
            value += " " + line.strip()
            if quote in line:
                break
    return value


def _unquote(value: str) -> str:
    """Without the quotes around the whole value; quotes within it are part of it.

    One that nothing ends goes on to the end of the file: systemd src/basic/env-file.c takes what stands there then.
    """
    if value[:1] in ("'", '"') and value[0] not in value[1:]:
        return value[1:]
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    return value


MAX_DIRECTORIES = 256


def is_pattern(path: str) -> bool:
    """Whether glob(3) would look for other names than this one."""
    return bool(set(path) & set("*?["))


def matches_pattern(path: str, pattern: str) -> bool:
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


def expand_pattern(host: Host, pattern: str, limit: int) -> list[str] | None:
    """The paths that match, in order; None where there are more than ``limit``, or too many folders to look at."""
    found = [""]
    for part in pattern.split("/")[1:]:
        if not is_pattern(part):
            found = [folder + "/" + part for folder in found]
            continue
        if len(found) > MAX_DIRECTORIES:
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
