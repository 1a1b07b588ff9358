# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths below a root lead where chroot(2) takes them: generated trees are compared with a process in a real chroot."""

from __future__ import annotations

import errno
import json
import os
import stat
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ansible_collections.volcano.colocation.plugins.module_utils import chroot_path
from ansible_collections.volcano.colocation.plugins.module_utils.host import Host
from ansible_collections.volcano.colocation.plugins.module_utils.state import files

MARKER = "outside of the root"
OUTSIDE = "@"
"""In generated texts: the directory on this machine that the root lies in."""

needs_chroot = pytest.mark.skipif(os.geteuid() != 0, reason="chroot(2) needs root")


class Entry(NamedTuple):
    """A file with this text, a directory (None), or a link (``to``)."""

    path: str
    text: str | None = None
    to: str | None = None


names = st.sampled_from(["a", "b", "c", "d"])
parts = st.sampled_from(["a", "b", "c", "d", "a", "b", "..", ".", ""])
places = st.lists(names, min_size=1, max_size=3).map("/".join)
texts = st.builds(
    lambda start, middle, end: start + "/".join(middle) + end,
    st.sampled_from(["", "/", "/", "../../", f"{OUTSIDE}/"]),
    st.lists(parts, min_size=1, max_size=4),
    st.sampled_from(["", "", "/"]),
).filter(bool)
entries = st.one_of(
    places.map(Entry),  # st.builds gives a class texts for its optional fields as well
    st.builds(lambda path, text: Entry(path, text=text), places, st.sampled_from(["1", "2"])),
    st.builds(lambda path, to: Entry(path, to=to), places, texts),
    st.builds(lambda path, to: Entry(path, to=to), places, texts),
)
trees = st.lists(entries, max_size=10)
queries = st.lists(st.builds(lambda names: "/" + "/".join(names), st.lists(parts, max_size=5)), max_size=4)
BEHIND = ("", "/", "/.", "/..", "/a", "/../b", "/../../a/b")
"""What every entry of a tree is asked with as well."""


def planted(directory: Path) -> str:
    """A root in a directory where every name of the generated paths is one with a marker; the root's path."""
    for name in "abcd":
        (directory / name / name).mkdir(parents=True)
        for place in (directory / name, directory / name / name):
            (place / "d").write_text(MARKER) if name != "d" else (place / "a").write_text(MARKER)
    root = directory / "root"
    root.mkdir()
    return str(root)


def grow(root: str, tree: Sequence[Entry]) -> None:
    """As much of it as fits: an entry below a file, or in the place of another one, is left out."""
    for entry in tree:
        path = os.path.join(root, entry.path)
        with suppress(OSError):
            if any(os.path.islink(str(parent)) for parent in Path(path).parents):
                continue
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if entry.to is not None:
                os.symlink(entry.to.replace(OUTSIDE, os.path.dirname(root)), path)
            elif entry.text is None:
                os.makedirs(path, exist_ok=True)
            else:
                handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
                os.write(handle, entry.text.encode())
                os.close(handle)


def identity(status: os.stat_result) -> list[int]:
    return [stat.S_IFMT(status.st_mode), status.st_dev, status.st_ino]


QUESTIONS: dict[str, Callable[[Host, str], Any]] = {
    "read": lambda host, path: host.read(path),
    "list": lambda host, path: host.list(path),
    "stat": lambda host, path: identity(host.stat(path)),
    "lstat": lambda host, path: identity(host.lstat(path)),
    "readlink": lambda host, path: host.readlink(path),
    "lexists": lambda host, path: host.lexists(path),
    "is_folder": lambda host, path: host.is_directory(path),
    "is_link": lambda host, path: host.is_symlink(path),
}


def answers(host: Host, paths: Sequence[str]) -> list[list[Any]]:
    """What a host says to every question of each path: a value, or the number of an error."""
    replies = []
    for path in paths:
        for name, ask in QUESTIONS.items():
            try:
                replies.append([path, name, ask(host, path)])
            except OSError as error:
                replies.append([path, name, "error " + errno.errorcode[error.errno or 0]])
    return replies


def in_chroot(root: str, work: Callable[[], Any]) -> Any:
    """What a child says that has this root."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.chroot(root)
            os.chdir("/")
            with os.fdopen(writer, "w") as stream:
                json.dump(work(), stream)
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader) as stream:
        message = stream.read()
    assert os.waitpid(child, 0)[1] == 0
    return json.loads(message)


def contents(directory: Path) -> Iterator[tuple[str, str]]:
    """Every path below a directory with its text, links not followed."""
    for path in sorted(directory.rglob("*")):
        regular = path.is_file() and not path.is_symlink()
        yield str(path.relative_to(directory)), path.read_text() if regular else ""


@needs_chroot
@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(trees, queries)
def test_a_root_answers_as_a_chroot_does(tree: list[Entry], paths: list[str]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        root = planted(Path(directory))
        grow(root, tree)
        asked = [*paths, *(f"/{entry.path}{more}" for entry in tree for more in BEHIND)]
        result = answers(Host(root), asked)
        assert result == in_chroot(root, lambda: answers(Host("/"), asked))
        assert MARKER not in json.dumps(result)


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(trees, places)
def test_what_is_written_stays_in_the_root(tree: list[Entry], place: str) -> None:
    with tempfile.TemporaryDirectory() as directory:
        root = planted(Path(directory))
        grow(root, tree)
        outside = {name: text for name, text in contents(Path(directory)) if not name.startswith("root/")}
        host, path = Host(root), f"/{place}"
        with suppress(files.FileRefused):
            saved = files.save(host, path, 0o644, directory, "backup")
            assert saved.backup is None or MARKER not in Path(directory, "backup").read_text()
            files.write(host, saved, b"new\n")
            assert host.read(path) == "new\n"
            files.restore(host, saved, directory)
        result = {name: text for name, text in contents(Path(directory)) if not name.startswith("root/")}
        result.pop("backup", None)
        assert result == outside


def linked(root: Path, count: int) -> None:
    """A chain of so many links, every second one absolute."""
    (root / "0").write_text("end")
    for number in range(1, count + 1):
        (root / str(number)).symlink_to(f"{'/' if number % 2 else ''}{number - 1}")


def test_forty_links_are_followed_and_not_one_more(tmp_path: Path) -> None:
    linked(tmp_path, 41)
    host = Host(str(tmp_path))
    assert host.read("/40") == "end"
    with pytest.raises(OSError, match=os.strerror(errno.ELOOP)) as caught:
        host.read("/41")
    assert caught.value.errno == errno.ELOOP


def test_a_circle_of_links_is_an_error_and_names_the_path_of_the_node(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to("/two")
    (tmp_path / "two").symlink_to("one")
    with pytest.raises(OSError, match=os.strerror(errno.ELOOP)) as caught:
        Host(str(tmp_path)).path("/one/file")
    assert (caught.value.errno, caught.value.filename) == (errno.ELOOP, "/one/file")
    assert Host(str(tmp_path)).readlink("/one") == "/two"


def test_a_root_may_be_reached_through_a_link_itself(tmp_path: Path) -> None:
    (tmp_path / "image" / "etc").mkdir(parents=True)
    (tmp_path / "image" / "etc" / "file").write_text("x")
    (tmp_path / "mounted").symlink_to(tmp_path / "image")
    assert Host(str(tmp_path / "mounted")).read("/etc/file") == "x"


def test_a_unit_of_an_image_is_masked_by_a_link_to_a_device_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "unit").symlink_to("/dev/null")
    (tmp_path / "other").symlink_to("/dev/zero")
    host = Host(str(tmp_path))
    assert [host.is_masked(f"/{name}") for name in ("unit", "other", "missing")] == [True, False, False]


def test_on_the_running_node_the_kernel_resolves(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No additional system calls, which would cost time."""

    def refused(*_arguments: object) -> str:
        raise AssertionError("a path of the running node was resolved here")

    monkeypatch.setattr(chroot_path, "resolve", refused)
    monkeypatch.setattr(chroot_path, "resolve_parent", refused)
    (tmp_path / "link").symlink_to(tmp_path)
    host, path = Host("/"), str(tmp_path / "link")
    assert (host.path(path), host.real_path(path)) == (path, path)
    assert answers(host, [path])[1] == [path, "list", ["link"]]
