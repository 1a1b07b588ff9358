# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two builds that differ in times and order of files become the same tarball, which is still consistent."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.release.reproducible import normalize

EPOCH = 1_700_000_000
CONTENTS = {"plugins": None, "plugins/b.py": b"b", "plugins/a.py": b"a", "COPYING": b"text"}
"""Names and contents of files; None is a directory."""


def member(name: str, data: bytes | None, mtime: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.mtime, info.size = mtime, len(data or b"")
    info.type, info.mode = (tarfile.DIRTYPE, 0o755) if data is None else (tarfile.REGTYPE, 0o644)
    return info


def build(path: Path, names: list[str], mtime: int) -> Path:
    """A tarball as ansible-galaxy writes it."""
    files = json.dumps({"files": [{"name": name} for name in [".", *names]], "format": 1}, indent=True).encode()
    listed = {"name": "FILES.json", "chksum_sha256": hashlib.sha256(files).hexdigest()}
    manifest = json.dumps({"file_manifest_file": listed}, indent=True).encode()
    with tarfile.open(path, "w:gz") as archive:
        for name, data in (("MANIFEST.json", manifest), ("FILES.json", files)):
            archive.addfile(member(name, data, mtime), io.BytesIO(data))
        for name in names:
            archive.addfile(member(name, CONTENTS[name], mtime), io.BytesIO(CONTENTS[name] or b""))
        link = member("LICENSE", b"", mtime)
        link.type, link.linkname = tarfile.SYMTYPE, "COPYING"
        archive.addfile(link)
    return path


@pytest.fixture(name="tarballs")
def _tarballs(tmp_path: Path) -> list[Path]:
    """Builds of two machines whose directories have another order."""
    first = build(tmp_path / "first.tar.gz", sorted(CONTENTS), 1)
    return [first, build(tmp_path / "second.tar.gz", sorted(CONTENTS, reverse=True), 2)]


def test_two_builds_become_the_same(tarballs: list[Path]) -> None:
    assert tarballs[0].read_bytes() != tarballs[1].read_bytes()
    for tarball in tarballs:
        normalize(tarball, EPOCH)
    assert tarballs[0].read_bytes() == tarballs[1].read_bytes()


def test_another_time_makes_another_tarball(tarballs: list[Path]) -> None:
    for tarball, epoch in zip(tarballs, (EPOCH, EPOCH + 1), strict=True):
        normalize(tarball, epoch)
    assert tarballs[0].read_bytes() != tarballs[1].read_bytes()


def test_contents_types_and_modes_stay_and_the_checksum_is_right(tarballs: list[Path]) -> None:
    normalize(tarballs[1], EPOCH)
    with tarfile.open(tarballs[1]) as archive:
        members = archive.getmembers()
        files = archive.extractfile("FILES.json")
        manifest = archive.extractfile("MANIFEST.json")
        assert files
        assert manifest
        listed = files.read()
        assert json.load(manifest)["file_manifest_file"]["chksum_sha256"] == hashlib.sha256(listed).hexdigest()
        contents = {
            info.name: content.read() if info.isfile() and (content := archive.extractfile(info)) else None
            for info in members
        }
    assert [file["name"] for file in json.loads(listed)["files"]] == [".", *sorted(CONTENTS)]
    assert [info.name for info in members] == ["MANIFEST.json", "FILES.json", *sorted([*CONTENTS, "LICENSE"])]
    assert {name: contents[name] for name in CONTENTS} == CONTENTS
    assert {(info.name, info.mode) for info in members if info.isdir()} == {("plugins", 0o755)}
    assert [(info.name, info.linkname) for info in members if info.issym()] == [("LICENSE", "COPYING")]
