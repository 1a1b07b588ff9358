# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the pages tell people to type exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.run.stages import STAGES
from ansible_collections.volcano.colocation.tests.unit.project.tree import CHECKOUT

PAGES = [CHECKOUT / "README.md", *sorted((CHECKOUT / "docs").glob("*.md"))]

IN_CODE = re.compile(r"`([^`\n]+)`|^(?:    |\$ )?(make [^\n]+)$", re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")


def code(page: Path) -> list[str]:
    return [first or second for first, second in IN_CODE.findall(page.read_text())]


def targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (CHECKOUT / "Makefile").read_text(), re.MULTILINE))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_make_targets_exist(page: Path) -> None:
    named = {words[1] for line in code(page) if len(words := line.split()) > 1 and words[0] == "make"}
    assert named <= targets()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_stages_exist(page: Path) -> None:
    named = {name for names in re.findall(r'STAGES="?([a-z -]+)', page.read_text()) for name in names.split()}
    assert named <= {stage.name for stage in STAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    assert [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()] == []
