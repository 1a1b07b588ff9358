# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse systemd unit files and their environment files, and match patterns of paths as glob(3) does.

The controller and the node use this module.
"""

from __future__ import annotations

import fnmatch
import re
import shlex
from collections.abc import Iterator

from ..host import Host

LONGEST = 1 << 16
"""Characters; a longer text is not a command line, and splitting it would take seconds."""
_ASSIGNMENT = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*=(.*)", re.DOTALL)


def _logical_lines(text: str) -> Iterator[str]:
    """Lines without comments, joined at a final backslash; comments may be in between, systemd.syntax(7)."""
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
    """``(key, value)`` of one section of a unit file, in order; an empty value resets earlier ones."""
    settings = []
    in_section = False
    for line in _logical_lines(text):
        stripped = line.strip()
        if stripped.startswith("["):
            in_section = stripped == "[%s]" % section
        elif in_section and "=" in stripped:
            key, _equals, value = stripped.partition("=")
            settings.append((key.strip(), value.strip()))
    return settings


def split_words(text: str) -> list[str]:
    """Words as systemd splits them: at whitespace, without quotes. Unpaired quotes are ordinary characters."""
    if len(text) > LONGEST:
        return []
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def environment_files(text: str) -> list[str]:
    """The paths of EnvironmentFile= in a unit file, with ``-`` for optional ones; ``""`` means a reset."""
    return [value for key, value in section_settings(text) if key == "EnvironmentFile"]


def parse_environment(text: str) -> dict[str, str]:
    """Variables of an environment file, systemd.exec(5), without outer quotes; the last assignment applies."""
    variables = {}
    lines = _logical_lines(text)
    for line in lines:
        assignment = _ASSIGNMENT.match(line)
        if assignment:
            variables[assignment[1]] = _unquote(_join_quoted_lines(assignment[2].strip(), lines))
    return variables


def _join_quoted_lines(value: str, following: Iterator[str]) -> str:
    """A value that begins with a quote continues on the following lines until the closing quote."""
    quote = value[:1]
    if quote in ("'", '"') and quote not in value[1:]:
        for line in following:
            value += " " + line.strip()
            if quote in line:
                break
    return value


def _unquote(value: str) -> str:
    """The value without quotes around all of it; quotes within it are part of it.

    A quote without a closing one extends to the end of the file: systemd src/basic/env-file.c accepts such a value.
    """
    if value[:1] in ("'", '"') and value[0] not in value[1:]:
        return value[1:]
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    return value


MAX_DIRECTORIES = 256


def is_pattern(path: str) -> bool:
    """Whether glob(3) treats the path as a pattern."""
    return bool(set(path) & set("*?["))


def matches_pattern(path: str, pattern: str) -> bool:
    """Whether a path matches; ``*`` matches names in one directory, and hidden ones only after a dot in the pattern."""
    names, parts = path.split("/"), pattern.split("/")
    return len(names) == len(parts) and all(_is_match(name, part) for name, part in zip(names, parts))


def _is_match(name: str, pattern: str) -> bool:
    if not is_pattern(pattern):
        return name == pattern
    try:
        return (pattern.startswith(".") or not name.startswith(".")) and fnmatch.fnmatchcase(
            name, pattern.replace("[^", "[!")
        )
    except re.error:
        return False


def expand_pattern(host: Host, pattern: str, limit: int) -> list[str] | None:
    """The matching paths, sorted; None if there are more than ``limit``, or too many directories to search."""
    paths = [""]
    for part in pattern.split("/")[1:]:
        if not is_pattern(part):
            paths = [directory + "/" + part for directory in paths]
            continue
        if len(paths) > MAX_DIRECTORIES:
            return None
        paths = [
            directory + "/" + name for directory in paths for name in _names(host, directory) if _is_match(name, part)
        ]
    existing = sorted(path for path in paths if _exists(host, path))
    return existing if len(existing) <= limit else None


def _names(host: Host, directory: str) -> list[str]:
    try:
        return host.list(directory or "/")
    except OSError:
        return []


def _exists(host: Host, path: str) -> bool:
    try:
        host.lstat(path)
    except OSError:
        return False
    return True
