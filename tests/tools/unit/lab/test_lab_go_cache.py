# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import os
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.lab import golang
from ansible_collections.volcano.colocation.tests.lab.cache import Cache
from ansible_collections.volcano.colocation.tests.lab.go_cache import trim
from ansible_collections.volcano.colocation.tests.lab.progress import Progress

PROGRESS = Progress("test")


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    """Ten files of 100 bytes, the first the least recently used."""
    directory = tmp_path / golang.COMPILED
    for number in range(10):
        path = directory / f"a{number}" / "file-d"
        path.parent.mkdir(parents=True)
        path.write_bytes(b"x" * 100)
        os.utime(path, (number, number))
    (directory / "README").write_bytes(b"x" * 1000)
    return Cache(tmp_path)


def files(cache: Cache) -> list[str]:
    return sorted(path.parent.name for path in (cache.root / golang.COMPILED).glob("*/*"))


def test_a_cache_below_its_limit_stays(cache: Cache) -> None:
    trim(cache, PROGRESS, limit=1000)
    assert len(files(cache)) == 10


def test_least_recently_used_files_are_deleted(cache: Cache, capsys: pytest.CaptureFixture[str]) -> None:
    trim(cache, PROGRESS, limit=800)
    assert files(cache) == ["a4", "a5", "a6", "a7", "a8", "a9"]
    assert (cache.root / golang.COMPILED / "README").exists()
    assert "trimmed to" in capsys.readouterr().err


def test_a_directory_that_is_deleted_during_the_scan_is_skipped(cache: Cache) -> None:
    (cache.root / golang.COMPILED / "ff").symlink_to("gone")
    trim(cache, PROGRESS, limit=800)
    assert len(files(cache)) == 6


def test_programs_do_not_count(cache: Cache) -> None:
    program = cache.root / "programs" / "etcd" / "etcd"
    program.parent.mkdir(parents=True)
    program.write_bytes(b"x" * 10000)
    trim(cache, PROGRESS, limit=1000)
    assert program.exists()
    assert len(files(cache)) == 10


def test_a_build_keeps_its_packages(cache: Cache, capsys: pytest.CaptureFixture[str]) -> None:
    with golang.in_use(cache):
        trim(cache, PROGRESS, limit=800)
    assert len(files(cache)) == 10
    assert "another build uses it" in capsys.readouterr().err
