# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checkouts share complete directories; one process makes them, and incomplete ones are made again."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.run import venvs
from ansible_collections.volcano.colocation.tests.run.venvs import STAMP, Recipe, digest, link, obtain, prune, shared

DAY = 24 * 3600.0


def make(directory: Path) -> None:
    """Records its call, and takes some time."""
    directory.mkdir()
    with (directory.parent / "calls").open("a") as calls:
        calls.write("made\n")
    time.sleep(0.2)
    (directory / "tool").write_text("complete")


def count_calls(root: Path) -> int:
    return len((root / "calls").read_text().splitlines())


def test_a_complete_directory_is_not_made_again(tmp_path: Path) -> None:
    for _time in range(2):
        assert (obtain(tmp_path / "one", make) / "tool").read_text() == "complete"
    assert count_calls(tmp_path) == 1


def test_two_checkouts_at_the_same_time_make_it_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=obtain, args=(tmp_path / "one", make)) for _number in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(20)
    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert count_calls(tmp_path) == 1


def test_an_incomplete_directory_is_made_again(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "half").write_text("")
    assert sorted(path.name for path in obtain(tmp_path / "one", make).iterdir()) == [STAMP, "tool"]


def test_a_failed_make_leaves_no_directory(tmp_path: Path) -> None:
    def fail(directory: Path) -> None:
        make(directory)
        raise OSError("no space left on device")

    with pytest.raises(OSError, match="no space left"):
        obtain(tmp_path / "one", fail)
    assert not (tmp_path / "one").exists()
    obtain(tmp_path / "one", make)
    assert count_calls(tmp_path) == 2


def test_only_unused_directories_are_removed(tmp_path: Path) -> None:
    for name, days in (("old", 61), ("recent", 59)):
        stamp = obtain(tmp_path / name, make) / STAMP
        os.utime(stamp, (time.time() - days * DAY,) * 2)
    prune(tmp_path)
    assert {path.name for path in tmp_path.glob("*/")} == {"recent"}


def test_a_used_directory_is_kept(tmp_path: Path) -> None:
    stamp = obtain(tmp_path / "one", make) / STAMP
    os.utime(stamp, (time.time() - 61 * DAY,) * 2)
    obtain(tmp_path / "one", make)
    assert count_calls(tmp_path) == 1


def test_lock_and_interpreter_decide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(venvs, "REQUIREMENTS", tmp_path)
    digests = set()
    for text in ("one\n", "two\n"):
        write_lock(tmp_path, text)
        digests.add(Recipe("dev", Path(sys.executable)).digest)
    monkeypatch.setattr(venvs, "identity", lambda _interpreter: "another Python")
    digests.add(Recipe("dev", Path(sys.executable)).digest)
    assert len(digests) == 3


def write_lock(directory: Path, text: str) -> None:
    (directory / "locks").mkdir(exist_ok=True)
    (directory / "locks" / "dev.txt").write_text(text)


@pytest.fixture(name="wheel")
def _wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only package that pip finds, without dependencies."""
    path = tmp_path / "index" / "sample-1-py3-none-any.whl"
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("sample.py", "")
        archive.writestr("sample-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: sample\nVersion: 1\n")
        archive.writestr("sample-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("sample-1.dist-info/RECORD", "")
    monkeypatch.setattr(venvs, "REQUIREMENTS", tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(path.parent))
    return path


def test_a_package_with_the_hash_of_the_lock_is_installed(tmp_path: Path, wheel: Path) -> None:
    write_lock(tmp_path, f"sample==1 --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n")
    python = venvs.provide(Recipe("dev", Path(sys.executable)))
    subprocess.run([python, "-I", "-c", "import sample"], check=True)


@pytest.mark.usefixtures("wheel")
@pytest.mark.parametrize("lock", [f"sample==1 --hash=sha256:{'0' * 64}\n", "sample==1\n"], ids=["another", "none"])
def test_a_package_without_the_hash_of_the_lock_is_refused(tmp_path: Path, lock: str) -> None:
    write_lock(tmp_path, lock)
    recipe = Recipe("dev", Path(sys.executable))
    with pytest.raises(subprocess.CalledProcessError):
        venvs.provide(recipe)
    assert not recipe.directory.exists()


def test_a_python_in_a_virtual_environment_is_that_which_made_it() -> None:
    base = Path(sys.base_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
    assert venvs.identity(Path(sys.executable)) == venvs.identity(base)


def test_digests_do_not_join_neighbours() -> None:
    assert digest(["ab", "c"]) != digest(["a", "bc"])


@pytest.mark.parametrize(("configured", "root"), [("/var/cache", "/var/cache"), ("", "~/.cache"), ("own", "~/.cache")])
def test_the_directory_of_the_cache(monkeypatch: pytest.MonkeyPatch, configured: str, root: str) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", configured)
    assert shared("venv") == Path(root).expanduser() / "volcano-colocation" / "venv"


@pytest.mark.parametrize("previous", ["nothing", "directory", "link", "dangling link"])
def test_a_link_replaces_what_was_there(tmp_path: Path, previous: str) -> None:
    path, directory, other = tmp_path / "venv", tmp_path / "shared", tmp_path / "other"
    directory.mkdir()
    other.mkdir()
    (other / "kept").write_text("")
    match previous:
        case "directory":
            (path / "bin").mkdir(parents=True)
        case "link":
            path.symlink_to(other)
        case "dangling link":
            path.symlink_to(tmp_path / "gone")
    link(path, directory)
    assert path.resolve() == directory
    assert (other / "kept").exists()
    assert {entry.name for entry in tmp_path.iterdir()} == {"venv", "shared", "other"}
