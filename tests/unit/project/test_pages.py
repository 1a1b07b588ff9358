# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands and paths in the pages exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.run import pages, report
from ansible_collections.volcano.colocation.tests.run.suites import SUITES, duration
from ansible_collections.volcano.colocation.tests.support.checkout import CHECKOUT

PROJECT = ("CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "MAINTAINERS.md", "README.md", "SECURITY.md")
PAGES = [*(CHECKOUT / name for name in PROJECT), *sorted((CHECKOUT / "docs").glob("*.md"))]

IN_CODE = re.compile(r"`([^`\n]+)`|^(?:    |\$ )?(make [^\n]+)$", re.MULTILINE)
LONGEST_LINE = 120
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")


def code(page: Path) -> list[str]:
    return [first or second for first, second in IN_CODE.findall(page.read_text())]


def targets() -> set[str]:
    rules = re.findall(r"^([a-z][a-z -]*):", (CHECKOUT / "Makefile").read_text(), re.MULTILINE)
    return {name for names in rules for name in names.split()}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_make_targets_exist(page: Path) -> None:
    named = {words[1] for line in code(page) if len(words := line.split()) > 1 and words[0] == "make"}
    assert named <= targets()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_stages_exist(page: Path) -> None:
    named = {name for names in re.findall(r'STAGES="?([a-z -]+)', page.read_text()) for name in names.split()}
    assert named <= {stage.name for suite in SUITES for stage in suite.stages}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    assert [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_lines_of_prose_are_short(page: Path) -> None:
    """Code blocks and rows of tables may be longer."""
    prose = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert [line for line in prose.splitlines() if len(line) > LONGEST_LINE and not line.startswith("|")] == []


@pytest.mark.parametrize("page", pages.PAGES, ids=lambda page: page.name)
def test_the_tables_that_are_written_are_current(page: Path) -> None:
    """`make docs` writes them."""
    assert pages.update(page) == page.read_text()


@pytest.mark.parametrize("name", pages.TABLES)
def test_every_table_is_on_a_page(name: str) -> None:
    assert any(pages.TABLES[name]() in page.read_text() for page in pages.PAGES)


@pytest.mark.parametrize("page", [pages.README, pages.CONTRIBUTING], ids=lambda page: page.name)
def test_the_commands_are_on_both_pages(page: Path) -> None:
    assert pages.commands() in page.read_text()


def test_the_end_of_the_tests_says_what_the_pages_say() -> None:
    test, *other_suites = SUITES
    end = report.closing(test, [], 0.0)
    for suite in other_suites:
        assert f"make {suite.name}: {suite.runs} ({duration(suite)})" in end
        assert f"| `make {suite.name}` | {suite.runs} | {duration(suite)} |" in pages.commands()


def test_every_command_is_a_target_with_a_line_of_help() -> None:
    helped = set(re.findall(r"@echo 'make ([a-z-]+) ", (CHECKOUT / "Makefile").read_text()))
    assert {suite.name for suite in SUITES} <= helped
    assert helped == targets() - {"help"}
