# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A secret collection in brackets, YAML's flow style, JSON or TOML: keys are kept, every value is hidden."""

from __future__ import annotations

import re
from typing import cast

from .secrets import MARK

_FLOW_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"?' + r"|'[^']*'?|[{}\[\],]|#.*|[^{}\[\],\"'#]+|#")


class SecretFlow:
    """Where in the collection the lines so far have come; ``quote`` is that of a string left open."""

    def __init__(self) -> None:
        self.brackets: list[str] = []
        self.quote: str | None = None
        self._wants_key = False

    def feed(self, line: str, start: int) -> tuple[int, str]:
        """End of the collection in this line, which may be the line's, and what is shown up to there."""
        shown = []
        for token in _FLOW_TOKEN.finditer(line, start):
            shown.append(self._token(token[0]))
            if not self.brackets:
                return token.end(), "".join(shown)
        return len(line), "".join(shown)

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
        found = cast("re.Match[str]", re.fullmatch(r"(\s*)((?:[^:=]*[:=])\s*)?(.*?)(\s*)", token, re.DOTALL))
        keeps = found[2] if found[2] and (self._wants_key or not found[2].strip(":= ")) else ""
        value = found[3] if keeps else (found[2] or "") + found[3]
        if keeps or value.strip():
            self._wants_key = False
        return found[1] + keeps + (MARK if value.strip() else "") + found[4]

    def _string(self, token: str) -> str:
        quote = token[0]
        if self._wants_key:
            return token
        if len(token) < 2 or token[-1] != quote:
            self.quote = quote
            return quote + MARK
        return quote + MARK + quote
