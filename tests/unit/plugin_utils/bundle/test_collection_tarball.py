# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tarball of a bundle is made of the installed collection, whose files are compared with their digests."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.bundle.collection_tarball import (
    FILES,
    MANIFEST,
    pack_collection,
    parse_collection_manifest,
    read_tarball,
    running_manifest,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.validators import ProfileError
from ansible_collections.volcano.colocation.tests.support.clusters.bundles import COLLECTION_FILES, write_collection


@pytest.fixture(name="installed")
def _installed(tmp_path: Path) -> Path:
    write_collection(tmp_path)
    return tmp_path


def test_the_tarball_has_the_files_of_the_collection_and_no_others(installed: Path) -> None:
    packed = pack_collection(installed)
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        assert archive.getnames() == [MANIFEST, FILES, "plugins", "plugins/modules", *COLLECTION_FILES]
        assert archive.getmember("plugins").isdir()
    assert pack_collection(installed) == packed


def test_the_tarball_is_the_collection_that_runs(installed: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.tar.gz"
    path.write_bytes(pack_collection(installed))
    manifest = running_manifest(installed)
    assert manifest is not None
    assert read_tarball(path) == manifest
    assert manifest.tarball == "volcano-colocation-0.1.0.tar.gz"


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda root: (root / "README.md").write_text("other"), "README.md was changed since the collection was"),
        (lambda root: (root / FILES).write_text("{}"), "FILES.json was changed since the collection was installed"),
        (lambda root: (root / "plugins/modules/a.py").unlink(), "a.py: No such file or directory"),
        (lambda root: (root / MANIFEST).unlink(), "is not installed from a tarball"),
    ],
)
def test_a_collection_that_was_changed_is_not_packed(
    installed: Path, damage: Callable[[Path], None], problem: str
) -> None:
    damage(installed)
    with pytest.raises(ProfileError, match=problem) as caught:
        pack_collection(installed)
    assert "set colocation_bundle_collection to it" in caught.value.message


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"{", "is not the manifest of a collection"),
        (b'{"collection_info": {}}', "is not the manifest of a collection"),
        (b'{"collection_info": {"namespace": "a", "name": "b", "version": "1"}}', "is that of a.b"),
    ],
)
def test_another_manifest_is_refused(text: bytes, problem: str) -> None:
    with pytest.raises(ProfileError, match=problem):
        parse_collection_manifest(text, MANIFEST)


def test_a_file_that_is_not_a_tarball_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.tar.gz"
    path.write_bytes(b"text")
    with pytest.raises(ProfileError, match="is not the tarball of a collection"):
        read_tarball(path)
    assert running_manifest(tmp_path) is None
