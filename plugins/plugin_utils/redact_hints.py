# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which lines of a text could hold a secret at all: rather too many than too few, and found at the speed of a search.

A line without any of these words holds no secret name (``secrets.is_secret_name``) and no token
(``secrets.without_tokens``). Add a word here for each name or shape that you add there; the tests compare the two.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_IN_NAMES = (
    *("pass", "secret", "token", "credential", "header", "cookie", "bearer", "docker", "data", "bundle", "auth"),
    *("pwd", "psk", "jwt", "sas", "cred", ".key", "-----begin "),
)
_KEYS = re.compile(
    r"(?:access|account|api|client|deploy|encryption|host|hmac|license|shared|private|server|signing|ssh|tls)[-_]?key"
    r"|(?<![\w.-])-p(?![\w.-])"
)
_IN_TOKENS = (
    *("://", "@", "eyj", "k10", "ls0tls1crudjti", "mii", "akia", "asia", "github_pat_", "earer "),
    *("xox", "xapp-", "aiza", "npm_", "hf_", "k_live_", "k_test_", "sig=", "signature="),
)
_SHAPES = re.compile(r"\.[a-z0-9]{16}|gh[a-z]_|gl[a-z]{2,5}-")
_FOLDED = str.maketrans(
    {
        **{chr(upper): chr(upper + 32) for upper in range(ord("A"), ord("Z") + 1)},
        # What a pattern that ignores case takes for i, k and s.
        "\u0130": "i",
        "\u0131": "i",
        "\u017f": "s",
        "\u212a": "k",
    }
)


@dataclass(frozen=True)
class Hints:
    """Where the lines begin in which a secret name may stand, and those in which a token may."""

    names: frozenset[int]
    tokens: frozenset[int]

    @classmethod
    def of(cls, text: str) -> Hints:
        folded = text.translate(_FOLDED)
        return cls(frozenset(_lines(folded, _IN_NAMES, _KEYS)), frozenset(_lines(folded, _IN_TOKENS, _SHAPES)))


def _lines(folded: str, words: Iterable[str], pattern: re.Pattern[str]) -> Iterator[int]:
    for word in words:
        position = folded.find(word)
        while position >= 0:
            yield folded.rfind("\n", 0, position) + 1
            # One is enough of a line.
            end_of_line = folded.find("\n", position)
            position = folded.find(word, end_of_line) if end_of_line >= 0 else -1
    for found in pattern.finditer(folded):
        yield folded.rfind("\n", 0, found.start()) + 1
