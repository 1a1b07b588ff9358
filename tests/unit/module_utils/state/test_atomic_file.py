# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A write replaces the content only: owner, mode, label and ACL stay, and no intermediate state is visible."""

from __future__ import annotations

import os
import stat
import struct
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.host import Host
from ansible_collections.volcano.colocation.plugins.module_utils.state import atomic_file, files
from ansible_collections.volcano.colocation.plugins.module_utils.state.files import (
    ChangedConcurrently,
    FileRefused,
    Saved,
)
from ansible_collections.volcano.colocation.tests.unit.module_utils.state.directory_watch import watched

PATH = "/etc/app/conf.d/app.conf"
ROOT = os.geteuid() == 0
LABEL = b"system_u:object_r:container_config_t:s0\0"
as_root = pytest.mark.skipif(not ROOT, reason="only root can give files away, label them and mount")


@pytest.fixture
def target(tmp_path: Path) -> Path:
    path = tmp_path / "node" / PATH[1:]
    path.parent.mkdir(parents=True)
    path.write_text("old\n")
    path.chmod(0o640)
    return path


@pytest.fixture
def host(target: Path, tmp_path: Path) -> Host:
    return Host(str(tmp_path / "node"))


@pytest.fixture
def backups(tmp_path: Path) -> str:
    files.make_private_directory(str(tmp_path / "state" / "backups"))
    return str(tmp_path / "state" / "backups")


@pytest.fixture
def saved(host: Host, backups: str) -> Saved:
    return files.save(host, PATH, 0o644, backups, "file-0")


def listing(host: Host) -> list[str]:
    return sorted(str(path.relative_to(host.root)) for path in Path(host.root).rglob("*") if path.is_file())


def attributes(path: Path) -> dict[str, Any]:
    status = path.stat()
    return {
        "mode": stat.S_IMODE(status.st_mode),
        "owner": (status.st_uid, status.st_gid),
        "xattrs": {name: os.getxattr(path, name) for name in os.listxattr(path)},
    }


def acl(*entries: tuple[int, int, int]) -> bytes:
    """An ACL in the kernel's format (linux/posix_acl_xattr.h): (tag, permissions, id) after version 2."""
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


NOBODY = 0xFFFFFFFF
OWNER, USER, GROUP, MASK, OTHER = 0x01, 0x02, 0x04, 0x10, 0x20
READABLE_BY_1000 = acl((OWNER, 6, NOBODY), (USER, 4, 1000), (GROUP, 4, NOBODY), (MASK, 4, NOBODY), (OTHER, 0, NOBODY))


def plain(path: Path) -> None:
    path.chmod(0o604)


def given_away(path: Path) -> None:
    os.chown(path, 12, 34)
    path.chmod(0o4750)


def labelled(path: Path) -> None:
    """A kernel without SELinux stores the label like any other attribute, which is tested here."""
    os.setxattr(path, "security.selinux", LABEL)


def attributed(path: Path) -> None:
    os.setxattr(path, "user.colocation", b"\0value")


def with_acl(path: Path) -> None:
    os.setxattr(path, "system.posix_acl_access", READABLE_BY_1000)


def in_a_directory_with_a_default_acl(path: Path) -> None:
    """New files inherit the ACL; the old file was created before it and has none."""
    for directory in (path.parent, path.parent.parent):
        os.setxattr(directory, "system.posix_acl_default", READABLE_BY_1000)


@pytest.mark.parametrize(
    "prepare",
    [
        plain,
        attributed,
        with_acl,
        in_a_directory_with_a_default_acl,
        pytest.param(given_away, marks=as_root),
        pytest.param(labelled, marks=as_root),
    ],
)
def test_the_attributes_of_a_file_stay(prepare: Callable[[Path], None], target: Path, host: Host, backups: str) -> None:
    prepare(target)
    before = attributes(target)
    saved = files.save(host, PATH, 0o644, backups, "file-0")
    files.write(host, saved, b"new\n")
    assert (target.read_text(), attributes(target)) == ("new\n", before)
    files.restore(host, saved, backups)
    assert (target.read_text(), attributes(target)) == ("old\n", before)
    target.unlink()
    files.restore(host, saved, backups)
    assert (target.read_text(), attributes(target)) == ("old\n", before)


def test_a_new_file_has_the_planned_attributes(host: Host, backups: str) -> None:
    path = "/etc/app/conf.d/new/new.conf"
    saved = files.save(host, path, 0o604, backups, "file-0")
    umask = os.umask(0o077)
    try:
        files.write(host, saved, b"new\n")
    finally:
        os.umask(umask)
    made = Path(host.path(path))
    assert attributes(made) == {"mode": 0o604, "owner": (os.geteuid(), os.getegid()), "xattrs": {}}
    assert stat.S_IMODE(made.parent.stat().st_mode) == 0o755
    files.restore(host, saved, backups)
    assert not made.parent.exists()


def test_a_watcher_sees_the_file_itself_and_nothing_else(target: Path, host: Host, backups: str, saved: Saved) -> None:
    with watched(target.parent) as events:
        files.write(host, saved, b"new\n")
    assert events == ["app.conf moved in"]
    with watched(target.parent) as events:
        files.restore(host, saved, backups)
    assert events == ["app.conf moved in"]
    assert listing(host) == ["etc/app/conf.d/app.conf"]


def test_a_watcher_sees_a_new_file_when_it_is_whole(target: Path, host: Host, backups: str) -> None:
    """Before that, inotify reports an unnamed file (`#` and its inode), which no process can open by name."""
    fresh = files.save(host, "/etc/app/conf.d/new.conf", 0o644, backups, "file-1")
    with watched(target.parent) as events:
        files.probe_write(host, fresh.path, b"new\n")
        files.write(host, fresh, b"new\n")
        files.restore(host, fresh, backups)
    assert [event for event in events if event[0] != "#"] == ["new.conf created", "new.conf deleted"]
    assert listing(host) == ["etc/app/conf.d/app.conf"]


def test_a_reader_sees_the_old_text_or_the_new_one(target: Path, host: Host, backups: str) -> None:
    texts = {b"a" * 300_000, b"b" * 200_000}
    target.write_bytes(min(texts))
    contents: list[bytes] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            contents.append(target.read_bytes())

    reader = threading.Thread(target=read)
    reader.start()
    for text in sorted(texts) * 10:
        files.write(host, files.save(host, PATH, 0o644, backups, "file-0"), text)
    done.set()
    reader.join()
    assert set(contents) <= texts
    assert contents


def test_text_owner_and_mode_are_on_disk_before_the_name(
    target: Path, host: Host, saved: Saved, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[str, str]] = []
    sync = os.fsync

    def recorded(handle: int) -> None:
        sync(handle)
        mode = os.fstat(handle).st_mode
        what = "directory" if stat.S_ISDIR(mode) else f"file {stat.S_IMODE(mode):o}"
        synced.append((what, target.read_text()))

    monkeypatch.setattr(os, "fsync", recorded)
    files.write(host, saved, b"new\n")
    assert synced == [("file 640", "old\n"), ("directory", "new\n"), ("directory", "new\n")]


def edited(path: Path) -> None:
    path.write_text("foreign\n")


def replaced(path: Path) -> None:
    path.rename(path.with_name("aside"))
    path.write_text("foreign\n")


def removed(path: Path) -> None:
    path.unlink()


def opened_to_all(path: Path) -> None:
    path.chmod(0o666)


def linked(path: Path) -> None:
    path.rename(path.with_name("aside"))
    path.symlink_to("aside")


@pytest.mark.parametrize("change", [edited, replaced, removed, opened_to_all, attributed, linked])
def test_a_file_with_a_foreign_change_is_not_written(
    change: Callable[[Path], None], target: Path, host: Host, saved: Saved
) -> None:
    change(target)
    foreign = {path: os.lstat(path).st_ino for path in target.parent.iterdir()}
    with pytest.raises(FileRefused, match=r"changed by someone else during this run|symbolic link"):
        files.write(host, saved, b"new\n")
    assert {path: os.lstat(path).st_ino for path in target.parent.iterdir()} == foreign
    assert listing(host) == sorted(str(path.relative_to(host.root)) for path in foreign)


def test_a_foreign_new_file_is_not_written(host: Host, backups: str) -> None:
    path = "/etc/app/conf.d/new.conf"
    saved = files.save(host, path, 0o644, backups, "file-0")
    Path(host.path(path)).write_text("foreign\n")
    with pytest.raises(ChangedConcurrently, match=r"new.conf: it was changed by someone else during this run. Run"):
        files.write(host, saved, b"new\n")
    assert Path(host.path(path)).read_text() == "foreign\n"


def _nothing(_handle: int) -> None:
    """Set no owner, mode or attribute."""


def test_a_change_in_the_last_moment_is_noticed(target: Path, tmp_path: Path) -> None:
    """After the text is on disk and before the rename."""

    def change() -> None:
        edited(target)
        raise ChangedConcurrently(PATH)

    stages = [str(target.parent.parent), str(target.parent)]
    with pytest.raises(ChangedConcurrently):
        atomic_file.replace(str(target), b"new\n", stages, _nothing, change)
    with pytest.raises(FileExistsError):
        atomic_file.create(str(target), b"new\n", _nothing)
    assert target.read_text() == "foreign\n"
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [target]


def test_a_temporary_file_of_a_power_cut_is_deleted(target: Path, host: Host, saved: Saved) -> None:
    for directory in (target.parent.parent, target.parent):
        Path(atomic_file.temporary_path(str(directory), str(target))).write_text("whole, but never renamed")
    files.write(host, saved, b"new\n")
    assert listing(host) == ["etc/app/conf.d/app.conf"]


def test_watchers_ignore_the_dot_name() -> None:
    for name in ("etcd.yaml", "90.conf", "10-x"):
        temporary = os.path.basename(atomic_file.temporary_path("/etc/kubernetes", f"/etc/kubernetes/manifests/{name}"))
        assert temporary.startswith(".")
        assert not temporary.endswith((".conf", ".toml", ".yaml", ".yml", ".json", ".service", ".slice"))


def test_a_file_is_replaced_on_a_file_system_without_unnamed_files(
    target: Path, host: Host, backups: str, saved: Saved, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For example NFS, which the test cannot mount."""
    monkeypatch.setattr(atomic_file, "_open_unnamed", lambda directory: None)
    before = attributes(target)
    fresh = files.save(host, "/etc/app/conf.d/new.conf", 0o604, backups, "file-1")
    with watched(target.parent) as events:
        files.write(host, saved, b"new\n")
    assert events == ["app.conf moved in"]
    files.probe_write(host, PATH, b"x")
    files.write(host, fresh, b"new\n")
    assert (target.read_text(), attributes(target)) == ("new\n", before)
    assert attributes(Path(host.path(fresh.path)))["mode"] == 0o604
    with pytest.raises(FileExistsError):
        atomic_file.create(str(target), b"foreign\n", _nothing)
    files.restore(host, fresh, backups)
    assert listing(host) == ["etc/app/conf.d/app.conf"]


@pytest.fixture
def live(target: Path) -> Iterator[Path]:
    """A link to the directory of the file, as the running node sees it."""
    link = target.parent.parent / "link"
    link.symlink_to("conf.d")
    yield link
    link.parent.chmod(0o755)


@as_root
def test_a_directory_link_of_root_is_followed(live: Path, target: Path, backups: str) -> None:
    """/var/lib/kubelet on a data disk."""
    saved = files.save(Host("/"), str(live / "app.conf"), 0o644, backups, "file-0")
    files.write(Host("/"), saved, b"new\n")
    assert target.read_text() == "new\n"
    assert live.is_symlink()


@as_root
@pytest.mark.parametrize("whose", ["link", "directory"])
def test_a_link_that_others_can_change_is_not_followed(whose: str, live: Path, target: Path, backups: str) -> None:
    if whose == "link":
        os.lchown(live, 1000, 1000)
    else:
        live.parent.chmod(0o777)
    with pytest.raises(FileRefused, match=r"link is a symbolic link that users other than root can change"):
        files.save(Host("/"), str(live / "app.conf"), 0o644, backups, "file-0")
    assert files.read_content(Host("/"), str(target)) == b"old\n"


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Path]:
    directory = tmp_path / "node" / "etc" / "small"
    directory.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(directory)], check=True)
    (directory / "app.conf").write_text("old\n")
    yield directory
    subprocess.run(["umount", str(directory)], check=True)


@as_root
def test_a_directory_that_is_a_separate_file_system(mounted: Path, host: Host, backups: str) -> None:
    saved = files.save(host, "/etc/small/app.conf", 0o644, backups, "file-0")
    files.write(host, saved, b"new\n")
    assert (mounted / "app.conf").read_text() == "new\n"
    assert listing(host) == ["etc/app/conf.d/app.conf", "etc/small/app.conf"]


@as_root
def test_a_file_system_that_is_full_by_now_keeps_the_old_text(mounted: Path, host: Host, backups: str) -> None:
    saved = files.save(host, "/etc/small/app.conf", 0o644, backups, "file-0")
    with pytest.raises(FileRefused, match=r"No space left on device\. Free some space there"):
        files.write(host, saved, b"x" * 100_000)
    assert (mounted / "app.conf").read_text() == "old\n"
    assert listing(host) == ["etc/app/conf.d/app.conf", "etc/small/app.conf"]


@as_root
@pytest.mark.parametrize("trouble", ["full", "read-only"])
def test_an_unchanged_file_is_restored_where_nothing_can_be_written(
    mounted: Path, host: Host, backups: str, trouble: str
) -> None:
    existing = files.save(host, "/etc/small/app.conf", 0o644, backups, "file-0")
    absent = files.save(host, "/etc/small/new.conf", 0o644, backups, "file-1")
    if trouble == "full":
        (mounted / "filler").write_bytes(b"x" * 61_440)
    else:
        subprocess.run(["mount", "-o", "remount,ro", str(mounted)], check=True)
    with pytest.raises(FileRefused):
        files.write(host, existing, b"new\n" * 1000)
    before = listing(host)

    for saved in (existing, absent):
        files.restore(host, saved, backups)

    assert listing(host) == before
    assert (mounted / "app.conf").read_text() == "old\n"
