# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits are read from a page and applied; each walkthrough of docs/walkthroughs.md has a test."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.support.walkthroughs import (
    PAGE,
    BadEdit,
    Edit,
    apply,
    edits,
    headings,
    section,
)

TEXT = """# Page

## Add a row

Text.

```diff
+++ table.py
 ROWS = (

+    2,
-    3,
 )
@@
+END = 1
 LAST = 2
```

```console
make docs
```

## Add a file

```diff
+++ new/file.py
+A = 1
+
```
"""
TABLE = "ROWS = (\n\n    3,\n)\nLAST = 2\nLAST = 22\n"


def test_edits_are_read_by_heading_and_place() -> None:
    assert headings(TEXT) == ("Add a row", "Add a file")
    assert edits(TEXT, "Add a row") == (
        Edit("table.py", "ROWS = (\n\n    3,\n)\n", "ROWS = (\n\n    2,\n)\n"),
        Edit("table.py", "LAST = 2\n", "END = 1\nLAST = 2\n"),
    )


def test_edits_are_applied(tmp_path: Path) -> None:
    (tmp_path / "table.py").write_text(TABLE, encoding="utf-8")
    for edit in (*edits(TEXT, "Add a row"), *edits(TEXT, "Add a file")):
        apply(edit, tmp_path)
    assert (tmp_path / "table.py").read_text() == "ROWS = (\n\n    2,\n)\nEND = 1\nLAST = 2\nLAST = 22\n"
    assert (tmp_path / "new" / "file.py").read_text() == "A = 1\n\n"


@pytest.mark.parametrize(
    ("edit", "problem"),
    [
        (Edit("table.py", "ROWS = ()\n", ""), "0 places of table.py"),
        (Edit("table.py", "OWS = (\n", ""), "0 places of table.py"),
        (Edit("table.py", "TWICE = 1\n", ""), "2 places of table.py"),
        (Edit("other.py", "A = 1\n", ""), "there is no file other.py"),
        (Edit("table.py", "", "A = 1\n"), "table.py exists already"),
    ],
)
def test_an_edit_that_does_not_fit_is_an_error(tmp_path: Path, edit: Edit, problem: str) -> None:
    (tmp_path / "table.py").write_text(f"{TABLE}TWICE = 1\nTWICE = 1\n", encoding="utf-8")
    with pytest.raises(BadEdit, match=problem):
        apply(edit, tmp_path)


def test_a_block_without_a_file_and_an_unknown_heading_are_errors() -> None:
    with pytest.raises(BadEdit, match=r"the first line of a block is '\+a'"):
        edits("## H\n```diff\n+a\n```\n", "H")
    with pytest.raises(BadEdit, match="the page has Add a row, Add a file"):
        section(TEXT, "Other")


def test_every_walkthrough_has_edits_and_a_test() -> None:
    page = PAGE.read_text(encoding="utf-8")
    tests = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_new_*.py"))
    for heading in headings(page):
        assert edits(page, heading)
        assert f'followed("{heading}"' in tests
