# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes a tarball of `ansible-galaxy collection build` independent of when and where it was built.

ansible-galaxy lists files in the order of the directory, and writes the current time. Here files are sorted and all
times are one given time (https://reproducible-builds.org/specs/source-date-epoch). gzip's result also depends on the
release of zlib.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from pathlib import Path
from typing import Any

MANIFEST = "MANIFEST.json"
FILES = "FILES.json"
FIRST = (MANIFEST, FILES)
"""ansible-galaxy reads them before any other file."""


def normalize(tarball: Path, epoch: int) -> None:
    """Rewrite the tarball with sorted files and ``epoch`` as the time of all of them."""
    with tarfile.open(tarball) as archive:
        contents = {member.name: (member, _read(archive, member)) for member in archive.getmembers()}
    files = _sorted_files(contents[FILES][1])
    manifest = _manifest_of(contents[MANIFEST][1], files)
    for name, data in ((FILES, files), (MANIFEST, manifest)):
        contents[name][0].size = len(data)
        contents[name] = (contents[name][0], data)
    tarball.write_bytes(_compress(_archive(contents, epoch), epoch))


def _read(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    content = archive.extractfile(member) if member.isfile() else None
    return content.read() if content else b""


def _sorted_files(data: bytes) -> bytes:
    listed = json.loads(data)
    listed["files"].sort(key=lambda file: file["name"])
    return _to_json(listed)


def _manifest_of(data: bytes, files: bytes) -> bytes:
    manifest = json.loads(data)
    manifest["file_manifest_file"]["chksum_sha256"] = hashlib.sha256(files).hexdigest()
    return _to_json(manifest)


def _to_json(value: Any) -> bytes:
    """As ansible-galaxy writes it."""
    return json.dumps(value, indent=True).encode()


def _archive(contents: dict[str, tuple[tarfile.TarInfo, bytes]], epoch: int) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in (*FIRST, *sorted(contents.keys() - set(FIRST))):
            member, data = contents[name]
            member.mtime = epoch
            member.pax_headers = {}
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def _compress(data: bytes, epoch: int) -> bytes:
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, mtime=epoch) as compressed:
        compressed.write(data)
    return buffer.getvalue()
