# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The README.md of each directory of fixtures names every file in it and says how it was made."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePath

import pytest

from ansible_collections.volcano.colocation.tests.support.checkout import CHECKOUT, sources
from ansible_collections.volcano.colocation.tests.support.hosts.recorded_hosts import Origin, captured_origins, origins

FIXTURES = "fixtures"
README = "README.md"
MADE = {"recorded", "by hand", "computed", "unknown"}
ROW = re.compile(r"^\| (?P<files>`[^|]*`) \| (?P<made>[^|]*) \| (?P<origin>.*) \|$", re.MULTILINE)


@dataclass(frozen=True)
class Row:
    """``files``: names below the directory, as patterns of fnmatch."""

    files: tuple[str, ...]
    made: str
    origin: str


def read_rows(text: str) -> list[Row]:
    """The rows of the tables whose first column has names of files."""
    return [Row(tuple(re.findall("`([^`]*)`", row["files"])), row["made"], row["origin"]) for row in ROW.finditer(text)]


def directory_of(path: Path) -> Path:
    """The fixtures directory, or the directory of a subject in it."""
    depth = path.parts.index(FIXTURES) + 1
    return Path(*path.parts[: depth + 1]) if len(path.parts) > depth + 1 else Path(*path.parts[:depth])


def fixtures() -> dict[Path, list[Path]]:
    """By directory of a subject: its files, relative to it."""
    files: dict[Path, list[Path]] = {}
    for path in sources():
        if FIXTURES in path.parts[:-1] and path.name != README:
            directory = directory_of(path)
            files.setdefault(directory, []).append(path.relative_to(directory))
    return files


def unnamed(files: Iterable[PurePath], rows: Iterable[Row]) -> list[str]:
    patterns = [pattern for row in rows for pattern in row.files]
    return [str(path) for path in files if not any(fnmatchcase(str(path), pattern) for pattern in patterns)]


DIRECTORIES = fixtures()
each_directory = pytest.mark.parametrize("directory", DIRECTORIES, ids=str)


def rows_of(directory: Path) -> list[Row]:
    return read_rows((CHECKOUT / directory / README).read_text(encoding="utf-8"))


@each_directory
def test_every_fixture_is_named_in_the_readme_of_its_directory(directory: Path) -> None:
    assert unnamed(DIRECTORIES[directory], rows_of(directory)) == []


@each_directory
def test_every_name_in_a_readme_is_that_of_a_fixture(directory: Path) -> None:
    patterns = [pattern for row in rows_of(directory) for pattern in row.files]
    assert [name for name in patterns if not any(fnmatchcase(str(path), name) for path in DIRECTORIES[directory])] == []
    assert len(set(patterns)) == len(patterns)


@each_directory
def test_every_row_of_a_readme_says_how_its_files_were_made(directory: Path) -> None:
    rows = rows_of(directory)
    assert {row.made for row in rows} <= MADE
    assert all(row.origin.strip() for row in rows)


@each_directory
def test_every_readme_has_the_license_header(directory: Path) -> None:
    head = (CHECKOUT / directory / README).read_text(encoding="utf-8").splitlines()[:2]
    assert [line.split(":")[0] for line in head] == ["<!-- SPDX-FileCopyrightText", "<!-- SPDX-License-Identifier"]


def test_a_new_fixture_without_a_row_is_reported() -> None:
    rows = read_rows("| file | made | where from |\n|---|---|---|\n| `a.json`, `b-*.json` | recorded | node n1 |\n")
    assert rows == [Row(("a.json", "b-*.json"), "recorded", "node n1")]
    assert unnamed([Path("a.json"), Path("b-1.json"), Path("c.json")], rows) == ["c.json"]


@pytest.mark.parametrize(("subject", "recorded"), [("hosts", origins), ("snapshots", captured_origins)])
def test_hosts_called_recorded_are_those_whose_node_is_known(
    subject: str, recorded: Callable[[], Mapping[str, Origin]]
) -> None:
    rows = rows_of(Path("tests/unit/fixtures") / subject)
    names = {row.files[0].rpartition(".")[0] for row in rows if row.made == "recorded"}
    assert names == set(recorded())
