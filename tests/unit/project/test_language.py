# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""No file has a word that the language guide advises against. The exceptions are listed here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.support.checkout import CHECKOUT
from ansible_collections.volcano.colocation.tests.tools.language import files, places

AREAS = ("README.md", "docs", "plugins", "roles", "playbooks", "changelogs/fragments", "molecule", "tests")

EXCEPTIONS: Mapping[str, frozenset[str]] = {
    "tests/tools/language.py": frozenset({"*"}),  # the table itself
    "tests/tools/unit/test_language.py": frozenset({"*"}),
}
"""Path: the words that stay there, as they are written; ``*`` for all."""


def excepted(path: Path) -> frozenset[str]:
    return EXCEPTIONS.get(path.relative_to(CHECKOUT).as_posix(), frozenset())


def offences(area: str) -> Iterator[str]:
    for path in files(CHECKOUT / area):
        words = excepted(path)
        if "*" not in words:
            yield from (str(place) for place in places(path) if place.word not in words)


@pytest.mark.parametrize("area", AREAS)
def test_no_word_is_one_that_the_guide_advises_against(area: str) -> None:
    assert list(offences(area)) == []


@pytest.mark.parametrize("path", [path for path, words in EXCEPTIONS.items() if "*" not in words])
def test_each_exception_is_needed(path: str) -> None:
    words = {place.word for place in places(CHECKOUT / path)}
    assert EXCEPTIONS[path] <= words
