# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/upstream.md: each defect has a row with its status, and a section with a reproducer and the change."""

from __future__ import annotations

import re

import pytest

from ansible_collections.volcano.colocation.tests.support.checkout import CHECKOUT

PAGE = (CHECKOUT / "docs" / "upstream.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| \[([^\]]+)\]\(#([\w-]+)\) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", PAGE, re.MULTILINE)
SECTIONS = dict(re.findall(r"^### (.+)\n\n((?:(?!^##).*\n)*)", PAGE, re.MULTILINE))
STATUS = {"run": r"Run( with|\.)", "run before": r"Run before", "read": r"Read[.,]"}


def anchor(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def test_each_defect_is_in_the_table() -> None:
    assert [row[1] for row in ROWS] == [anchor(title) for title in SECTIONS]
    assert len(ROWS) > 20


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[1])
def test_a_section_has_the_status_of_its_row(row: tuple[str, ...]) -> None:
    text = next(text for title, text in SECTIONS.items() if anchor(title) == row[1])
    assert re.match(STATUS[row[3]], text), text[:60]


@pytest.mark.parametrize("title", [title for title in SECTIONS if "guide" not in title])
def test_a_section_has_the_change_that_fixes_it(title: str) -> None:
    assert "\nChange: " in SECTIONS[title]
