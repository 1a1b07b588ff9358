# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Links of the pages in the site."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.docsite.markdown_pages import (
    BrokenLinkError,
    index_page,
    rewrite_links,
)

FILES = "https://forge/blob/main"
PAGES = ("docs/a.md", "docs/b.md", "SECURITY.md")


@pytest.fixture(name="root")
def _root(tmp_path: Path) -> Path:
    for name in (*PAGES, "README.md", "roles/node/tasks/main.yml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    return tmp_path


@pytest.mark.parametrize(
    ("link", "rewritten"),
    [
        ("b.md#part", "b.md#part"),
        ("#part", "#part"),
        ("https://example.com/x.md", "https://example.com/x.md"),
        ("../SECURITY.md", "../SECURITY.md"),
        ("../README.md#part", "../index.md#part"),
        ("../roles/node/tasks/main.yml", f"{FILES}/roles/node/tasks/main.yml"),
        ("../roles", f"{FILES}/roles"),
    ],
)
def test_only_links_to_other_files_lead_to_the_forge(root: Path, link: str, rewritten: str) -> None:
    assert rewrite_links(f"See [a]({link}).\n", "docs/a.md", PAGES, root, FILES) == f"See [a]({rewritten}).\n"


def test_code_is_not_changed(root: Path) -> None:
    text = "```text\n[a](missing.md)\n```\n[b](b.md)\n"
    assert rewrite_links(text, "docs/a.md", PAGES, root, FILES) == text


def test_a_link_to_a_missing_file_is_an_error(root: Path) -> None:
    with pytest.raises(BrokenLinkError, match=r"docs/a\.md: the link gone\.md leads to docs/gone\.md"):
        rewrite_links("[a](gone.md)\n", "docs/a.md", PAGES, root, FILES)


def test_the_first_page_lists_the_others() -> None:
    page = index_page("# Title\n", [("Pages", ["docs/a.md", "docs/b.md"])])
    assert page == "# Title\n\n```{toctree}\n:hidden:\n:caption: Pages\n\ndocs/a.md\ndocs/b.md\n```\n"
