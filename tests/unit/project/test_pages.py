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
ANCHOR = re.compile(r"\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)")
REPOSITORY = "https://github.com/volcano-sh/ansible-collection-colocation/blob/main/"


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


def headings(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_headings(page: Path) -> None:
    anchors = ANCHOR.findall(page.read_text(encoding="utf-8"))
    targets = [(page.parent / name if name else page, anchor) for name, anchor in anchors]
    assert [f"{path.name}#{anchor}" for path, anchor in targets if anchor not in headings(path)] == []


def test_the_links_of_the_readme_work_on_galaxy() -> None:
    """They are absolute, and lead to files of the repository."""
    text = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    assert LINK.findall(text) == []
    definitions = dict(re.findall(r"^\[([\w-]+)\]: (\S+)$", text, re.MULTILINE))
    assert set(re.findall(r"\]\[([\w-]+)\]", text)) == set(definitions)
    paths = {url.removeprefix(REPOSITORY) for url in definitions.values() if url.startswith(REPOSITORY)}
    assert len(paths) > 10
    assert [path for path in paths if not (CHECKOUT / path).exists()] == []


def test_the_index_has_every_page_once() -> None:
    index = CHECKOUT / "docs" / "README.md"
    rows = re.findall(r"^\|.+\| \[([\w-]+\.md)\]\(\1\) \|$", index.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(rows) == sorted(path.name for path in index.parent.glob("*.md") if path != index)


@pytest.mark.parametrize("page", sorted((CHECKOUT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_a_page_begins_with_what_it_is_for(page: Path) -> None:
    first = page.read_text(encoding="utf-8").partition("\n# ")[2].partition("\n\n")[2]
    assert re.match(r"(?!```)[\w`*\[]", first)


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
    table = pages.TABLES[name]()
    assert any(table in page.read_text() for page in pages.PAGES)


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
