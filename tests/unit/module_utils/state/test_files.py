# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.host import Host
from ansible_collections.volcano.colocation.plugins.module_utils.state import files
from ansible_collections.volcano.colocation.plugins.module_utils.state.files import FileRefused

PATH = "/etc/app/app.conf"


@pytest.fixture
def host(tmp_path: Path) -> Host:
    target = tmp_path / "node" / "etc" / "app" / "app.conf"
    target.parent.mkdir(parents=True)
    target.write_text("old\n")
    target.chmod(0o640)
    return Host(str(tmp_path / "node"))


@pytest.fixture
def backups(tmp_path: Path) -> str:
    files.make_private_directory(str(tmp_path / "state" / "backups"))
    return str(tmp_path / "state" / "backups")


def listing(host: Host) -> list[str]:
    return sorted(str(path.relative_to(host.root)) for path in Path(host.root).rglob("*"))


def test_a_replaced_file_keeps_its_mode_and_is_restored(host: Host, backups: str) -> None:
    target = Path(host.path(PATH))
    before = target.stat()
    saved = files.save(host, PATH, 0o644, backups, "file-0")
    files.write(host, saved, b"new\n")
    assert (target.read_text(), stat.S_IMODE(target.stat().st_mode)) == ("new\n", 0o640)
    assert target.stat().st_ino != before.st_ino, "readers see the old or the new file, never a part"
    files.restore(host, saved, backups)
    assert (target.read_text(), stat.S_IMODE(target.stat().st_mode)) == ("old\n", 0o640)
    assert listing(host) == ["etc", "etc/app", "etc/app/app.conf"]
    assert stat.S_IMODE(os.stat(backups + "/file-0").st_mode) == 0o600


def test_a_new_file_and_its_directories_are_removed(host: Host, backups: str) -> None:
    path = "/etc/other/conf.d/zz.conf"
    saved = files.save(host, path, 0o600, backups, "file-0")
    assert saved.folders == ["/etc/other", "/etc/other/conf.d"]
    files.write(host, saved, b"new\n")
    assert stat.S_IMODE(os.stat(host.path(path)).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(host.path("/etc/other")).st_mode) == 0o755
    files.restore(host, saved, backups)
    files.restore(host, saved, backups)
    assert listing(host) == ["etc", "etc/app", "etc/app/app.conf"]


def test_a_directory_that_others_use_stays(host: Host, backups: str) -> None:
    saved = files.save(host, "/etc/other/zz.conf", 0o600, backups, "file-0")
    files.write(host, saved, b"new\n")
    Path(host.path("/etc/other/foreign")).touch()
    files.restore(host, saved, backups)
    assert listing(host) == ["etc", "etc/app", "etc/app/app.conf", "etc/other", "etc/other/foreign"]


def test_a_link_is_refused_and_named(host: Host, backups: str) -> None:
    target = Path(host.path(PATH))
    target.rename(target.with_name("real"))
    target.symlink_to("/somewhere/else")
    for use in (
        lambda: files.regular_file_status(host, PATH),
        lambda: files.content_sha256(host, PATH),
        lambda: files.save(host, PATH, 0o644, backups, "file-0"),
    ):
        with pytest.raises(FileRefused, match=r"^/etc/app/app.conf: it is a symbolic link to /somewhere/else"):
            use()
    assert target.is_symlink()


def test_a_fifo_or_directory_is_refused(host: Host) -> None:
    os.mkfifo(host.path("/etc/app/fifo"))
    for path in ("/etc/app/fifo", "/etc/app"):
        with pytest.raises(FileRefused, match="not a regular file"):
            files.regular_file_status(host, path)
    assert files.regular_file_status(host, "/etc/app/app.conf/below") is None


def test_a_linked_directory_does_not_lead_out_of_an_image(host: Host, tmp_path: Path, backups: str) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "x.conf").write_text("foreign")
    Path(host.path("/etc/linked")).symlink_to(tmp_path / "outside")
    Path(host.path("/etc/inside")).symlink_to("app")
    Path(host.path("/etc/absolute")).symlink_to("/etc/app")
    assert files.save(host, "/etc/linked/x.conf", 0o644, backups, "file-0").backup is None
    with pytest.raises(
        FileRefused, match=r"^/etc/linked/x.conf: its directory /etc/linked is a symbolic link to .*, which"
    ):
        files.probe_write(host, "/etc/linked/x.conf", b"x")
    for place in ("inside", "absolute"):
        assert files.read_content(host, f"/etc/{place}/app.conf") == b"old\n"


def test_a_new_file_in_a_linked_directory_of_an_image_is_in_the_image(host: Host, tmp_path: Path, backups: str) -> None:
    """The target of the link also exists on this machine."""
    (tmp_path / "real").mkdir()
    inside = Path(host.root + str(tmp_path / "real"))
    inside.mkdir(parents=True)
    Path(host.path("/etc/linked")).symlink_to(tmp_path / "real")
    for path, name in (("/etc/linked/x.conf", "x.conf"), ("/etc/linked/new/y.conf", "new/y.conf")):
        saved = files.save(host, path, 0o644, backups, "file-0")
        files.probe_write(host, path, b"new\n")
        files.write(host, saved, b"new\n")
        files.write(host, files.save(host, path, 0o644, backups, "file-1"), b"newer\n")
        assert (inside / name).read_text() == "newer\n"
        files.restore(host, saved, backups)
    assert [*inside.iterdir(), *(tmp_path / "real").iterdir()] == []


def test_a_file_at_the_path_of_a_directory_is_detected_before_any_change(host: Host) -> None:
    with pytest.raises(FileRefused, match=r"^/etc/app/app.conf/d/x.conf: /etc/app/app.conf is not a directory. Move"):
        files.probe_write(host, "/etc/app/app.conf/d/x.conf", b"x")


def test_a_circle_of_links_is_refused_with_its_path(host: Host) -> None:
    Path(host.path("/etc/one")).symlink_to("/etc/two")
    Path(host.path("/etc/two")).symlink_to("/etc/one")
    with pytest.raises(FileRefused, match=r"^/etc/one/x.conf: cannot look at it: Too many levels of symbolic links"):
        files.regular_file_status(host, "/etc/one/x.conf")


def test_a_probe_leaves_nothing(host: Host) -> None:
    files.probe_write(host, PATH, b"x" * 10000)
    files.probe_write(host, "/etc/not/yet/there.conf", b"x")
    assert listing(host) == ["etc", "etc/app", "etc/app/app.conf"]


def test_a_damaged_backup_is_not_restored(host: Host, backups: str) -> None:
    saved = files.save(host, PATH, 0o644, backups, "file-0")
    files.write(host, saved, b"new\n")
    Path(backups, "file-0").write_text("damaged")
    with pytest.raises(FileRefused, match="its backup is damaged"):
        files.restore(host, saved, backups)


# Real problems of file systems. Mounting needs root; otherwise a directory without permissions replaces the mount.


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Path]:
    directory = tmp_path / "node" / "etc" / "small"
    directory.mkdir(parents=True)
    if os.geteuid() == 0:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(directory)], check=True)
    (directory / "app.conf").write_text("old\n")
    yield directory
    if os.geteuid() == 0:
        subprocess.run(["umount", str(directory)], check=True)
    directory.chmod(0o700)


def test_a_full_file_system_is_detected_before_any_change(host: Host, mounted: Path) -> None:
    size = 100_000
    if os.geteuid() != 0:
        mounted.chmod(0o500)
        size = 10
    with pytest.raises(FileRefused) as caught:
        files.probe_write(host, "/etc/small/app.conf", b"x" * size)
    if os.geteuid() == 0:
        assert str(caught.value) == (
            "/etc/small/app.conf: cannot write it (100000 bytes): No space left on device. Free some space there"
        )
    assert [path.name for path in mounted.iterdir()] == ["app.conf"]
    assert (mounted / "app.conf").read_text() == "old\n"


def test_a_read_only_file_system_is_detected_before_any_change(host: Host, mounted: Path) -> None:
    if os.geteuid() == 0:
        subprocess.run(["mount", "-o", "remount,ro", str(mounted)], check=True)
    else:
        mounted.chmod(0o500)
    with pytest.raises(FileRefused, match=r"cannot write it \(3 bytes\)") as caught:
        files.probe_write(host, "/etc/small/app.conf", b"new")
    expected = "Remount it read-write" if os.geteuid() == 0 else "Use become: true"
    assert expected in str(caught.value)
    assert (mounted / "app.conf").read_text() == "old\n"
