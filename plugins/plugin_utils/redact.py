# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts and command lines as people may see them: what looks secret is replaced, rather too much than too little."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

MARK = "REDACTED"

_SECRET_NAME = r"[\w.-]*(?:pass(?:word|wd|phrase)|secret|token|credential|api[-_]?key|private[-_]?key|header)[\w.-]*"
_SECRET = re.compile(rf"(?:{_SECRET_NAME}|[\w.-]*auth|authorization|pass)", re.IGNORECASE)
_ASSIGNED = re.compile(r"""(?P<key>[\w.-]+)["']?\s*[:=]\s*(?P<value>.*)""")
_HARMLESS = re.compile(r"(?:true|false|null|~|\d+)?\s*(?:[,}\]#].*)?", re.IGNORECASE)
_URL_PASSWORD = re.compile(r"(?<=://)[^/\s:@\"']+:[^/\s@\"']+(?=@)")
_TABLE = re.compile(r"\s*\[\[?(?P<name>.+?)\]\]?\s*(?:#.*)?")
_OPENING = {'"""': '"""', "'''": "'''", "[": "]", "{": "}"}


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _secret_assignment(line: str) -> re.Match[str] | None:
    """The first secret-looking key of a line with its value, wherever it stands in the line."""
    return next((found for found in _ASSIGNED.finditer(line) if _SECRET.fullmatch(found["key"])), None) or next(
        (found for found in _inner_assignments(line) if _SECRET.fullmatch(found["key"])), None
    )


def _inner_assignments(line: str) -> Iterator[re.Match[str]]:
    """Assignments inside the value of another: flow mappings and inline tables."""
    found = _ASSIGNED.search(line)
    while found:
        yield found
        found = _ASSIGNED.search(line, found.start("value"))


class _Hidden:
    """Which of the following lines belong to a secret value that goes over several lines."""

    def __init__(self) -> None:
        self._below: int | None = None
        self._until: str | None = None
        self._table = False

    def covers(self, line: str) -> bool:
        """Whether the line is part of a secret."""
        if self._until is not None:
            if self._until in line:
                self._until = None
            return True
        if "-----BEGIN " in line:
            self._until = None if "-----END " in line else "-----END "
            return True
        table = _TABLE.fullmatch(line)
        if table:
            self._below = None
            self._table = bool(_SECRET.fullmatch(table["name"].rpartition(".")[2].strip("\"' ")))
            return False
        return self._is_below(line) or (self._table and _ASSIGNED.search(line) is not None)

    def _is_below(self, line: str) -> bool:
        if self._below is None or not line.strip():
            return False
        deeper = _indent(line) > self._below or (_indent(line) == self._below and line.lstrip().startswith("- "))
        if not deeper:
            self._below = None
        return deeper

    def opens(self, line: str, key: str, value: str) -> None:
        """Note what a secret key without its whole value on the same line covers."""
        opening = next((each for each in _OPENING if value.startswith(each)), None)
        if opening and _OPENING[opening] not in value[len(opening) :]:
            self._until = _OPENING[opening]
        elif re.fullmatch(r"(?:[|>][-+\d]*)?\s*(?:#.*)?", value) and key.lower() != "authorization":
            self._below = _indent(line)


def _redact_line(line: str, hidden: _Hidden) -> str:
    if hidden.covers(line):
        return " " * _indent(line) + MARK
    found = _secret_assignment(line)
    if found:
        hidden.opens(line, found["key"], found["value"])
        if not _HARMLESS.fullmatch(found["value"]) and not re.match(r"[|>]", found["value"]):
            line = line[: found.start("value")] + MARK
    return _URL_PASSWORD.sub(MARK, line)


def redact_text(text: str) -> str:
    """A configuration text, line for line, with secret values, PEM blocks and passwords in URLs replaced."""
    hidden = _Hidden()
    lines = []
    for line in text.split("\n"):
        body = line.rstrip("\r")
        lines.append(_redact_line(body, hidden) + line[len(body) :])
    return "\n".join(lines)


def redact_argv(argv: list[str]) -> list[str]:
    """A command line with the values of secret-looking options replaced, in both forms."""
    shown: list[str] = []
    value_follows = False
    for word in argv:
        name, equals, _value = word.partition("=")
        secret = word.startswith("-") and _SECRET.fullmatch(name.lstrip("-")) is not None
        if value_follows and not word.startswith("-"):
            word = MARK
        elif secret and equals:
            word = f"{name}={MARK}"
        value_follows = secret and not equals
        shown.append(_URL_PASSWORD.sub(MARK, word))
    return shown


def redact_snapshot(value: Any, key: str = "") -> Any:
    """A snapshot that can be shown or kept: every text and command line in it redacted, its shape unchanged."""
    if isinstance(value, Mapping):
        return {name: redact_snapshot(each, str(name)) for name, each in value.items()}
    if key == "argv":
        return redact_argv(list(value))
    if isinstance(value, list):
        return [redact_snapshot(each) for each in value]
    if key in ("text", "kernel_command_line") and isinstance(value, str):
        return redact_text(value)
    return value
