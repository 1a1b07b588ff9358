# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of all findings, as it is installed with the collection, and the codes that it has."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from ..profile.argspec import Spec
from ..profile.nearest_name import did_you_mean
from ..profile.validators import ProfileError
from ..report.explanation import PAGE, Explanation, parse_page

EXPLAIN_FINDING: Spec = {"code": {"type": "str", "required": True}}
PATH = Path(__file__).parents[3] / PAGE


@cache
def explanations() -> dict[str, Explanation]:
    """By code."""
    return parse_page(PATH.read_text(encoding="utf-8"))


def explanation_of(option: str, code: str) -> Explanation:
    """The explanation of a code; ProfileError about ``option`` for an unknown one, with the nearest."""
    require_known_codes(option, (code,))
    return explanations()[code]


def require_known_codes(option: str, codes: Iterable[str]) -> None:
    """ProfileError about ``option`` for the first code that is unknown, with the nearest."""
    for code in codes:
        if code not in explanations():
            question = did_you_mean(code, explanations())
            raise ProfileError(option, f"no finding has the code {code}{question or '.'} {PAGE} lists all codes.")
