# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/licenses.md lists what REUSE.toml says; `make lint TOOL=licenses` checks each file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import tomli

from ansible_collections.volcano.colocation.tests.support.checkout import CHECKOUT, sources

PAGE = CHECKOUT / "docs" / "licenses.md"
OWN = "GPL-3.0-or-later"


def entries() -> list[Mapping[str, Any]]:
    listed: list[Mapping[str, Any]] = tomli.loads((CHECKOUT / "REUSE.toml").read_text())["annotations"]
    return listed


def patterns(entry: Mapping[str, Any]) -> list[str]:
    path = entry["path"]
    return [path] if isinstance(path, str) else path


def rows() -> Iterator[tuple[str, str]]:
    """The paths and the licence of each row with paths."""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        for path in re.findall(r"`([^`]+/[^`]+)`", cells[0]) if line.startswith("|") else ():
            yield path, cells[-1]


def test_content_of_other_projects_has_its_row() -> None:
    foreign = {
        path: entry["SPDX-License-Identifier"]
        for entry in entries()
        if entry["SPDX-License-Identifier"] != OWN
        for path in patterns(entry)
    }
    assert foreign
    assert {path: licence for path, licence in rows() if licence != OWN} == foreign


def test_only_own_files_are_shipped() -> None:
    """The page says that the tarball has no content of other projects; galaxy.yml leaves out the tests."""
    shipped = [path for entry in entries() for path in patterns(entry) if entry["SPDX-License-Identifier"] != OWN]
    assert [path for path in shipped if not path.startswith("tests/")] == []


def test_every_pattern_matches_a_file() -> None:
    names = sources()
    unused = [path for entry in entries() for path in patterns(entry) if not any(name.match(path) for name in names)]
    assert unused == []
