# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.lab.cache import MANIFEST, Cache, Recipe, sha256
from ansible_collections.volcano.colocation.tests.lab.errors import LabError
from ansible_collections.volcano.colocation.tests.lab.progress import Progress

RECIPE = Recipe("disk", "trixie", ("one", "two"))


class Builder:
    """Builds an entry with one file and counts how often."""

    def __init__(self) -> None:
        self.built = 0

    def __call__(self, directory: Path, log: Path) -> None:
        self.built += 1
        (directory / "file").write_text(f"content {self.built}")


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path)


def obtain(cache: Cache, builder: Builder) -> Path:
    return cache.obtain(RECIPE, builder, Progress("test"))


def test_an_existing_entry_is_not_built_again(cache: Cache) -> None:
    builder = Builder()
    assert obtain(cache, builder) == obtain(cache, builder) == cache.find(RECIPE)
    assert builder.built == 1


@pytest.mark.parametrize("parts", [("one",), ("onet", "wo"), ("one", "two", "")])
def test_another_recipe_is_another_entry(cache: Cache, parts: tuple[str, ...]) -> None:
    obtain(cache, Builder())
    assert cache.find(Recipe("disk", "trixie", parts)) is None


def truncate(entry: Path) -> None:
    with (entry / "file").open("r+b") as stream:
        stream.truncate(3)


def change(entry: Path) -> None:
    (entry / "file").write_text("CONTENT 1")


def lose_file(entry: Path) -> None:
    (entry / "file").unlink()


def lose_manifest(entry: Path) -> None:
    (entry / MANIFEST).unlink()


def spoil_manifest(entry: Path) -> None:
    (entry / MANIFEST).write_text('{"file": 1}')


@pytest.mark.parametrize("damage", [truncate, change, lose_file, lose_manifest, spoil_manifest])
def test_a_damaged_entry_is_built_again(cache: Cache, damage: object) -> None:
    builder = Builder()
    assert callable(damage)
    damage(obtain(cache, builder))
    assert cache.find(RECIPE) is None
    assert (obtain(cache, builder) / "file").read_text() == "content 2"


def test_a_copy_with_another_time_is_still_good(cache: Cache) -> None:
    builder = Builder()
    os.utime(obtain(cache, builder) / "file", (1, 1))
    obtain(cache, builder)
    assert builder.built == 1


def test_a_build_that_fails_leaves_no_entry(cache: Cache) -> None:
    def fail(directory: Path, log: Path) -> None:
        (directory / "file").write_text("half")
        raise LabError("no space")

    with pytest.raises(LabError, match="no space"):
        cache.obtain(RECIPE, fail, Progress("test"))
    assert cache.find(RECIPE) is None
    assert (obtain(cache, Builder()) / "file").read_text() == "content 1"


def test_concurrent_builds_build_once(cache: Cache) -> None:
    builder = Builder()
    threads = [threading.Thread(target=obtain, args=(cache, builder)) for _thread in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert builder.built == 1


def test_holes_of_a_file_are_hashed_by_position(tmp_path: Path) -> None:
    def sparse(name: str, *places: int) -> str:
        path = tmp_path / name
        with path.open("wb") as stream:
            for place in places:
                stream.seek(place)
                stream.write(b"x" * 4096)
            stream.truncate(1 << 40)
        return sha256(path)

    assert sparse("a", 0, 1 << 20) == sparse("b", 0, 1 << 20)
    assert len({sparse("a", 0, 1 << 20), sparse("c", 0, 1 << 21), sparse("d", 0), sparse("e")}) == 4
    plain = tmp_path / "plain"
    plain.write_bytes(b"abc")
    assert sha256(plain) == hashlib.sha256(b"abc").hexdigest()
