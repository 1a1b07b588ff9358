# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checkouts share complete directories; one process makes them, and incomplete ones are made again."""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
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


def test_pins_and_included_files_and_interpreter_decide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(venvs, "REQUIREMENTS", tmp_path)
    (tmp_path / "dev.txt").write_text("-r controller.txt\n\npytest\n")
    digests = set()
    for text, pins in (("one\n", ""), ("two\n", ""), ("two\n", "pytest==9\n")):
        (tmp_path / "controller.txt").write_text(text)
        digests.add(Recipe("dev", Path(sys.executable), pins).digest)
    monkeypatch.setattr(venvs, "identity", lambda _interpreter: "another Python")
    digests.add(Recipe("dev", Path(sys.executable), "pytest==9\n").digest)
    assert len(digests) == 4


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
