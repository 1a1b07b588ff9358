# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Directories of cgroups are opened so that a symbolic link cannot redirect to another directory."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.cgroup.safe_path import (
    Walk,
    open_directory,
    parts,
    read,
    write,
)
from ansible_collections.volcano.colocation.plugins.module_utils.errors import ColocationError
from ansible_collections.volcano.colocation.plugins.module_utils.host import Host

SECRET = "outside\n"


@pytest.fixture
def host(tmp_path: Path) -> Host:
    """A tree at /cg with a cgroup a/b, and a directory /outside with the same files."""
    for path in ("cg/a/b", "outside/b"):
        (tmp_path / path).mkdir(parents=True)
    (tmp_path / "cg/a/b/cpu.weight").write_text("100\n")
    (tmp_path / "outside/b/cpu.weight").write_text(SECRET)
    return Host(str(tmp_path))


@contextmanager
def opened_directory(host: Host, relative: str, root: str = "/cg") -> Iterator[int]:
    handle = open_directory(host, root, relative)
    try:
        yield handle
    finally:
        os.close(handle)


def open_files() -> list[str]:
    return sorted(os.listdir("/proc/self/fd"))


def test_files_of_an_opened_directory_are_read_and_written(host: Host) -> None:
    before = open_files()
    for root in ("/cg", "/cg/"):
        with opened_directory(host, "a/b", root) as opened:
            assert os.listdir(opened) == ["cpu.weight"]
            assert read(opened, "cpu.weight") == "100\n"
            write(opened, "cpu.weight", "7")
            assert read(opened, "cpu.weight") == "7"
            write(opened, "cpu.weight", "100\n")
    with opened_directory(host, "") as opened:
        assert os.listdir(opened) == ["a"]
    assert open_files() == before


def test_the_root_itself_may_be_a_symlink(host: Host, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("cg")
    with opened_directory(host, "a/b", "/link") as opened:
        assert os.listdir(opened) == ["cpu.weight"]


@pytest.mark.parametrize(
    ("relative", "reason"),
    [
        ("/a", "it begins with a slash"),
        ("..", r"it has an empty, \. or \.\. part"),
        ("a/../../outside", r"it has an empty, \. or \.\. part"),
        ("a//b", r"it has an empty, \. or \.\. part"),
        ("a/", r"it has an empty, \. or \.\. part"),
        ("./a", r"it has an empty, \. or \.\. part"),
        ("a\0b", "it has a zero byte"),
    ],
)
def test_paths_that_may_leave_the_root(host: Host, relative: str, reason: str) -> None:
    before = open_files()
    with pytest.raises(ColocationError, match=f"is not a path below the cgroup root: {reason}"):
        open_directory(host, "/cg", relative)
    assert open_files() == before


def test_names_that_only_look_dangerous() -> None:
    assert parts("...") == ("...",)
    assert parts(r"a\x2fb.slice/..slice") == (r"a\x2fb.slice", "..slice")


@pytest.mark.parametrize(("link", "target"), [("cg/l", "../outside"), ("cg/l", "a"), ("cg/a/l", "/outside")])
def test_links_are_never_followed(host: Host, tmp_path: Path, link: str, target: str) -> None:
    (tmp_path / link).symlink_to(target)
    before = open_files()
    name = link[len("cg/") :]
    for relative in (name, f"{name}/b"):
        with pytest.raises(ColocationError) as caught:
            open_directory(host, "/cg", relative)
        assert caught.value.file == f"/cg/{name}"
        assert caught.value.message == "it is a symbolic link instead of a cgroup, and is not followed"
    assert open_files() == before


def test_a_walk_opens_each_path(host: Host, tmp_path: Path) -> None:
    for made in ("cg/a/c", "cg/d/b"):
        (tmp_path / made).mkdir(parents=True)
    (tmp_path / "cg/a/l").symlink_to("b")
    before = open_files()
    walk = Walk(host, "/cg")
    for path in ("a/b", "a/c", "a/c", "a", "d/b", "a/b", "", "a/b"):
        assert os.path.samestat(os.fstat(walk.to(path)), os.stat(str(tmp_path / "cg" / path)))
    for wrong in ("a/l", "a/none/b", "../outside"):
        with pytest.raises(ColocationError):
            walk.to(wrong)
        assert os.path.samestat(os.fstat(walk.to("a/c")), os.stat(str(tmp_path / "cg/a/c")))
    walk.close()
    assert open_files() == before


@pytest.mark.parametrize("relative", ["a/none", "none", "none/b"])
def test_a_missing_cgroup(host: Host, relative: str) -> None:
    with pytest.raises(ColocationError, match="the cgroup does not exist"):
        open_directory(host, "/cg", relative)


def test_a_file_is_not_a_cgroup(host: Host) -> None:
    with pytest.raises(ColocationError, match=r"/cg/a/b/cpu\.weight: cannot be opened: Not a directory"):
        open_directory(host, "/cg", "a/b/cpu.weight")
    with pytest.raises(ColocationError, match="/none: the cgroup does not exist"):
        open_directory(host, "/none", "a")


def test_the_root_may_be_a_link(host: Host, tmp_path: Path) -> None:
    (tmp_path / "cpu").symlink_to("cg")
    with opened_directory(host, "a/b", "/cpu") as opened:
        assert read(opened, "cpu.weight") == "100\n"


def test_a_file_that_is_a_link_is_neither_read_nor_written(host: Host, tmp_path: Path) -> None:
    (tmp_path / "cg/a/cpu.weight").symlink_to("../../outside/b/cpu.weight")
    with opened_directory(host, "a") as opened:
        with pytest.raises(OSError, match="symbolic links"):
            read(opened, "cpu.weight")
        with pytest.raises(OSError, match="symbolic links"):
            write(opened, "cpu.weight", "1")
    assert (tmp_path / "outside/b/cpu.weight").read_text() == SECRET


def test_no_file_is_created(host: Host, tmp_path: Path) -> None:
    with opened_directory(host, "a") as opened, pytest.raises(FileNotFoundError):
        write(opened, "cpu.weight", "1")
    assert sorted(entry.name for entry in (tmp_path / "cg/a").iterdir()) == ["b"]


@pytest.mark.parametrize("name", ["", "..", "b/cpu.weight", "/etc/passwd", "../a/b/cpu.weight"])
def test_texts_that_are_not_the_name_of_a_file(host: Host, name: str) -> None:
    with opened_directory(host, "a") as opened, pytest.raises(ColocationError):
        write(opened, name, "1")


def test_a_fifo_in_the_place_of_a_file_does_not_hang(host: Host, tmp_path: Path) -> None:
    os.mkfifo(str(tmp_path / "cg/a/cpu.weight"))
    with opened_directory(host, "a") as opened:
        assert read(opened, "cpu.weight") == ""
        with pytest.raises(OSError, match="No such device or address"):
            write(opened, "cpu.weight", "1")


def test_an_opened_directory_stays_the_same(host: Host, tmp_path: Path) -> None:
    with opened_directory(host, "a/b") as opened:
        (tmp_path / "cg/a").rename(tmp_path / "cg/old")
        (tmp_path / "cg/a").symlink_to("../outside")
        write(opened, "cpu.weight", "1")
    assert (tmp_path / "cg/old/b/cpu.weight").read_text() == "1"
    assert (tmp_path / "outside/b/cpu.weight").read_text() == SECRET


def test_a_link_that_comes_and_goes_never_leads_outside(host: Host, tmp_path: Path) -> None:
    """Another process keeps replacing directory a with a link to /outside: each attempt stays inside or fails."""
    place, real, link = (str(tmp_path / name) for name in ("cg/a", "cg/real", "cg/link"))
    os.symlink("../outside", link)
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            os.rename(place, real)
            os.rename(link, place)
            os.rename(place, link)
            os.rename(real, place)

    inside = refused = 0
    other = threading.Thread(target=swap)
    other.start()
    try:
        while (inside < 20 or refused < 20) and inside + refused < 20000:
            try:
                with opened_directory(host, "a/b") as opened:
                    assert read(opened, "cpu.weight") == "100\n"
                    inside += 1
            except ColocationError:
                refused += 1
    finally:
        stop.set()
        other.join()
    assert inside
    assert refused
