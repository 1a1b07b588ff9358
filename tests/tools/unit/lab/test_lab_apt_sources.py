# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.lab.apt_sources import (
    Source,
    debian_source,
    host_sources,
    parse_deb822,
    parse_one_line,
    source_line,
)
from ansible_collections.volcano.colocation.tests.lab.errors import LabError

DEB822 = """# The first stanza is of another vendor.
Types: deb
URIs: https://vendor.example/repo
Suites: nodistro
Components: main

Types: deb deb-src
# a comment inside
URIs: http://mirror.example/debian http://second.example/debian
Suites: bookworm bookworm-updates
Components: main
 contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://mirror.example/off
Suites: bookworm
Components: main
Enabled: no

Types: deb
URIs: http://mirror.example/debian-security
Suites: bookworm-security
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 -----END PGP PUBLIC KEY BLOCK-----
"""


@pytest.fixture(autouse=True)
def _no_mirror_of_the_developer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLOCATION_LAB_MIRROR", raising=False)


def test_each_stanza_of_a_deb822_file_is_read_as_a_source() -> None:
    keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"
    suites = ("bookworm", "bookworm-updates")
    assert list(parse_deb822(DEB822)) == [
        Source(("deb",), "https://vendor.example/repo", ("nodistro",), ("main",)),
        Source(("deb", "deb-src"), "http://mirror.example/debian", suites, ("main", "contrib"), keyring),
        Source(("deb", "deb-src"), "http://second.example/debian", suites, ("main", "contrib"), keyring),
        Source(("deb",), "http://mirror.example/debian-security", ("bookworm-security",), ("main",)),
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "deb http://m/debian trixie main contrib # note",
            Source(("deb",), "http://m/debian", ("trixie",), ("main", "contrib")),
        ),
        (
            "  deb-src [arch=amd64 signed-by=/k.gpg] http://m/debian trixie main",
            Source(("deb-src",), "http://m/debian", ("trixie",), ("main",), "/k.gpg"),
        ),
        ("deb [ trusted=yes ] file:/srv/x ./", Source(("deb",), "file:/srv/x", ("./",), ())),
    ],
)
def test_a_source_in_one_line_is_read_with_its_options(line: str, expected: Source) -> None:
    assert list(parse_one_line(line)) == [expected]


@pytest.mark.parametrize(
    "line", ["", "# deb http://m/debian trixie main", "deb http://m/debian", "rpm http://m/x y main"]
)
def test_other_lines_are_skipped(line: str) -> None:
    assert list(parse_one_line(line)) == []


def test_the_mirror_is_the_first_main_archive_of_debian() -> None:
    assert debian_source(parse_deb822(DEB822)).uri == "http://mirror.example/debian"


def test_both_formats_are_read_in_apts_order(tmp_path: Path) -> None:
    parts = tmp_path / "sources.list.d"
    parts.mkdir()
    (tmp_path / "sources.list").write_text("deb http://one/debian stable main\n")
    (parts / "b.sources").write_text("Types: deb\nURIs: http://three/debian\nSuites: stable\nComponents: main\n")
    (parts / "a.list").write_text("deb http://two/debian stable main\n")
    (parts / "c.list.bak").write_text("deb http://never/debian stable main\n")
    assert [source.uri for source in host_sources(tmp_path)] == [
        "http://one/debian",
        "http://two/debian",
        "http://three/debian",
    ]


def test_a_host_without_debian_gets_the_variable_to_set() -> None:
    with pytest.raises(LabError, match="COLOCATION_LAB_MIRROR"):
        debian_source(parse_one_line("deb http://archive.ubuntu.example/ubuntu noble main"))


def test_a_mirror_may_be_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLOCATION_LAB_MIRROR", "http://given/debian")
    assert debian_source([]).uri == "http://given/debian"


def test_a_source_line_names_its_key() -> None:
    source = Source(("deb",), "http://m/debian", ("bookworm",), ("main",), "/k.gpg")
    assert source_line(source, "deb-src", "bookworm") == "deb-src [signed-by=/k.gpg] http://m/debian bookworm main"
