# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tarball of the collection that runs, from its installed files, as ``ansible-galaxy collection build`` makes it.

An installed collection has no galaxy.yml, but a list of its files with their digests (ansible-core
lib/ansible/galaxy/collection/__init__.py _build_files_manifest_walk, _build_collection_tar).
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..profile.validators import ProfileError

COLLECTION = "collection"
"""The option, for errors."""
MANIFEST, FILES = "MANIFEST.json", "FILES.json"
NAMESPACE, NAME = "volcano", "colocation"
RUNNING = Path(__file__).parents[3]
_OWN = "Build a tarball (ansible-galaxy collection build) and set colocation_bundle_collection to it"


@dataclass(frozen=True)
class CollectionManifest:
    """MANIFEST.json of a collection: its version and the digest of the text."""

    version: str
    sha256: str

    @property
    def tarball(self) -> str:
        return f"{NAMESPACE}-{NAME}-{self.version}.tar.gz"


def parse_collection_manifest(text: bytes, path: str) -> CollectionManifest:
    """ProfileError if it is not that of this collection."""
    try:
        described = json.loads(text)["collection_info"]
        names = described["namespace"], described["name"]
        version = str(described["version"])
    except (ValueError, KeyError, TypeError) as error:
        raise ProfileError(COLLECTION, f"{path} is not the manifest of a collection. {_OWN}") from error
    if names != (NAMESPACE, NAME):
        raise ProfileError(COLLECTION, f"{path} is that of {'.'.join(map(str, names))}. {_OWN}")
    return CollectionManifest(version, hashlib.sha256(text).hexdigest())


def running_manifest(root: Path = RUNNING) -> CollectionManifest | None:
    """The manifest of the installed collection; None in a checkout."""
    path = root / MANIFEST
    return parse_collection_manifest(path.read_bytes(), str(path)) if path.is_file() else None


def read_tarball(path: Path) -> CollectionManifest:
    """The manifest in a tarball."""
    try:
        with tarfile.open(path, "r:gz") as archive:
            stream = archive.extractfile(MANIFEST)
            text = stream.read() if stream else b""
    except (OSError, EOFError, KeyError, tarfile.TarError) as error:
        raise ProfileError(COLLECTION, f"{path} is not the tarball of a collection. {_OWN}") from error
    return parse_collection_manifest(text, f"{MANIFEST} in {path}")


def pack_collection(root: Path = RUNNING) -> bytes:
    """The tarball: the same bytes for the same files. ProfileError if a file was changed since the installation."""
    contents = dict(_contents(root))
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in contents.items():
            member = tarfile.TarInfo(name)
            member.type = tarfile.DIRTYPE if content is None else tarfile.REGTYPE
            member.mode = 0o755 if content is None or (root / name).stat().st_mode & 0o100 else 0o644
            member.size = len(content or b"")
            archive.addfile(member, io.BytesIO(content or b""))
    return gzip.compress(packed.getvalue(), mtime=0)


def _contents(root: Path) -> Iterator[tuple[str, bytes | None]]:
    """(name, content) of each file, in the order of the tarball; None for a directory."""
    if not (root / MANIFEST).is_file():
        raise ProfileError(COLLECTION, f"the collection in {root} is not installed from a tarball. {_OWN}")
    manifest = json.loads((root / MANIFEST).read_bytes())
    yield MANIFEST, (root / MANIFEST).read_bytes()
    yield FILES, _unchanged(root, FILES, manifest["file_manifest_file"]["chksum_sha256"])
    for entry in _entries(root):
        name = str(entry["name"])
        if name != ".":
            yield name, None if entry["ftype"] == "dir" else _unchanged(root, name, entry["chksum_sha256"])


def _entries(root: Path) -> list[Mapping[str, Any]]:
    files: list[Mapping[str, Any]] = json.loads((root / FILES).read_bytes())["files"]
    return files


def _unchanged(root: Path, name: str, expected: str) -> bytes:
    path = root / name
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ProfileError(COLLECTION, f"{path}: {error.strerror}. Install the collection again. {_OWN}") from error
    if hashlib.sha256(content).hexdigest() != expected:
        raise ProfileError(
            COLLECTION, f"{path} was changed since the collection was installed. Install it again. {_OWN}"
        )
    return content
