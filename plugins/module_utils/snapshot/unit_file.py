# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading of systemd unit files and of the environment files they name. Pure; both sides use it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

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


def settings(text: str, section: str = "Service") -> list[tuple[str, str]]:
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


def words(text: str) -> list[str]:
    """Words as systemd splits them: at white space, quotes taken off. A text with unpaired quotes is split plainly."""
    if len(text) > LONGEST:
        return []
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def environment_files(text: str) -> list[str]:
    """The paths of EnvironmentFile= in a unit file, ``-`` for optional kept; ``""`` stands for a reset."""
    return [value for key, value in settings(text) if key == "EnvironmentFile"]


def environment(text: str) -> dict[str, str]:
    """Variables of an environment file, systemd.exec(5): no comments, outer quotes taken off, the last one wins."""
    found = {}
    lines = _logical_lines(text)
    for line in lines:
        assigned = _ASSIGNMENT.match(line)
        if assigned:
            found[assigned[1]] = _unquoted(_whole(assigned[2].strip(), lines))
    return found


def _whole(value: str, following: Iterator[str]) -> str:
    """A value that begins with a quote goes on over the lines until that quote ends it."""
    quote = value[:1]
    if quote in ("'", '"') and quote not in value[1:]:
        for line in following:
            value += " " + line.strip()
            if quote in line:
                break
    return value


def _unquoted(value: str) -> str:
    """Without the quotes around the whole value; quotes within it are part of it.

    One that nothing ends goes on to the end of the file: systemd src/basic/env-file.c takes what stands there then.
    """
    if value[:1] in ("'", '"') and value[0] not in value[1:]:
        return value[1:]
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    return value
