# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nesting in a redacted text: whether a position is in a string, brackets or a YAML block; hidden collections."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import cast

from .secrets import MARK

_SIGN = re.compile(r"""\\.|(?<!\w)'|'(?!\w)|["{}\[\]]""")


def indent_of(line: str) -> int:
    return len(line) - len(line.lstrip())


def is_comment(line: str) -> bool:
    return line.lstrip().startswith(("#", ";", "//"))


def closing_quote(line: str, start: int, quote: str) -> int | None:
    """The end of the string that began before ``start``; backslashes are escapes only in double quotes."""
    pattern = r"(?:\\.|[^\\])*?" if quote[0] == '"' else r"(?:[^']|'')*?" if quote == "'" else r".*?"
    match = re.compile(pattern + re.escape(quote) + ("(?!')" if quote == "'" else "")).match(line, start)
    return match.end() - len(quote) if match else None


@dataclass
class Block:
    """Lines below a YAML key that belong to its value. ``literal``: column of the key or dash of a block scalar."""

    column: int
    comment: bool
    scalar: bool = False
    literal: int | None = None

    def covers(self, line: str) -> bool:
        """Whether the line is part of the value."""
        body = line
        if self.comment:
            if not is_comment(line):
                return False
            body = line.replace("#", " ", 1)
        indent = indent_of(body)
        at_key = indent == self.column and re.match(r"-(\s|$)", body.lstrip()) is not None
        return indent > self.column or (at_key and not self.scalar)


class Inside:
    """The open string and the number of open brackets at a position in a line."""

    def __init__(self) -> None:
        self.quote = ""
        self.brackets = 0

    def pass_over(self, line: str, start: int, end: int) -> None:
        """Update the state for the text between two positions."""
        for match in _SIGN.finditer(line, start, end):
            sign = match[0]
            if sign[0] == "\\":
                continue
            if sign in "\"'":
                self.quote = sign if not self.quote else "" if self.quote == sign else self.quote
            elif not self.quote:
                self.brackets = max(0, self.brackets + (1 if sign in "{[" else -1))


_FLOW_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"?' + r"|'[^']*'?|[{}\[\],]|#.*|[^{}\[\],\"'#]+|#")


class SecretFlow:
    """The state within a collection after the lines so far; ``quote`` is the quote of an open string."""

    def __init__(self) -> None:
        self.brackets: list[str] = []
        self.quote: str | None = None
        self._wants_key = False

    def feed(self, line: str, start: int) -> tuple[int, str]:
        """The collection's end in this line (or the line's end), and the redacted text up to there."""
        parts = []
        for token in _FLOW_TOKEN.finditer(line, start):
            parts.append(self._token(token[0]))
            if not self.brackets:
                return token.end(), "".join(parts)
        return len(line), "".join(parts)

    def _token(self, token: str) -> str:
        if token in ("{", "["):
            self.brackets.append(token)
        elif token in ("}", "]"):
            self.brackets.pop()
        if token in tuple("{}[],"):
            self._wants_key = bool(self.brackets) and self.brackets[-1] == "{" and token in "{,"  # noqa: S105 - a bracket, no password
            return token
        if token[0] in "\"'":
            return self._string(token)
        if token[0] == "#":
            return "# " + MARK
        match = cast("re.Match[str]", re.fullmatch(r"(\s*)((?:[^:=]*[:=])\s*)?(.*?)(\s*)", token, re.DOTALL))
        keeps = match[2] if match[2] and (self._wants_key or not match[2].strip(":= ")) else ""
        value = match[3] if keeps else (match[2] or "") + match[3]
        if keeps or value.strip():
            self._wants_key = False
        return match[1] + keeps + (MARK if value.strip() else "") + match[4]

    def _string(self, token: str) -> str:
        quote = token[0]
        if self._wants_key:
            return token
        if len(token) < 2 or token[-1] != quote:
            self.quote = quote
            return quote + MARK
        return quote + MARK + quote
