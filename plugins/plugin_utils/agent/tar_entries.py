# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The entries of an image archive. They are hashed while they are read, and never unpacked: input is not trusted.

As in containerd (core/images/archive/importer.go ImportIndex), only regular files count, names are normalized by
path.Clean, and a blob is identified by the digest of its content, not by its name.
"""

from __future__ import annotations

import hashlib
import posixpath
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO

MAX_CHUNK = 1 << 20
MAX_ENTRIES = 20_000
MAX_NAME = 4096
MAX_DOCUMENT = 4 << 20
"""Maximum bytes of one JSON document; the configuration of an image has some kilobytes."""
MAX_DOCUMENTS = 64 << 20
"""Maximum bytes of all JSON documents, which are kept in memory."""
_JSON_STARTS = (b"{", b"[")


class BadArchive(ValueError):
    """Why a file is not a valid archive."""


@dataclass(frozen=True)
class Entries:
    """``digests`` by name, ``sizes`` and JSON ``documents`` by digest; ``sha256`` and ``size`` of the whole file."""

    digests: Mapping[str, str]
    sizes: Mapping[str, int]
    documents: Mapping[str, bytes]
    sha256: str
    size: int

    def document(self, name: str) -> bytes | None:
        """The text of a JSON document by its name; None if it is missing."""
        return self.documents.get(self.digests.get(name, ""))


class _BoundedFile:
    """A file that limits the size of one read, so that a malicious header cannot exhaust memory."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= MAX_CHUNK:
            raise BadArchive(f"a header has a size of {size} bytes")
        return self._stream.read(size)

    def seek(self, offset: int, whence: int = 0) -> int:
        if whence == 0 and offset < 0:
            raise BadArchive("a header refers to a position before the start of the file")
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()


def load_entries(stream: BinaryIO) -> Entries:
    """All entries of an uncompressed tar file; BadArchive for anything else. ``stream`` must be seekable."""
    sha256, size = _hash_file(stream)
    stream.seek(0)
    digests: dict[str, str] = {}
    sizes: dict[str, int] = {}
    documents: dict[str, bytes] = {}
    total = 0
    try:
        for name, digest, length, text in _regular(stream):
            if name in digests:
                raise BadArchive(f"two entries have the name {name}")
            digests[name], sizes[digest] = digest, length
            if text is not None:
                documents[digest] = text
                total += len(text)
            if total > MAX_DOCUMENTS:
                raise BadArchive(f"its JSON documents are larger than {MAX_DOCUMENTS >> 20} MiB")
    except (tarfile.TarError, EOFError, OverflowError, RecursionError, UnicodeError, ValueError) as error:
        if isinstance(error, BadArchive):
            raise
        raise BadArchive("it is not a complete, uncompressed tar file") from error
    return Entries(digests, sizes, documents, sha256, size)


def _regular(stream: BinaryIO) -> Iterator[tuple[str, str, int, bytes | None]]:
    """(name, digest, size, text if it may be JSON) of each regular file, in order."""
    # tarfile uses no other methods of a file.
    with tarfile.open(fileobj=_BoundedFile(stream), mode="r:") as archive:  # type: ignore[call-overload]
        count, last = 0, -1
        while True:
            member = archive.next()
            if member is None:
                return
            count += 1
            _require_plain(archive, member, count, last)
            last = member.offset
            # tarfile keeps every member and does not need them again: this limits memory.
            archive.members = []
            if member.isreg():
                yield (posixpath.normpath(member.name), *_content(archive, member))


def _require_plain(archive: tarfile.TarFile, member: tarfile.TarInfo, count: int, last: int) -> None:
    if count > MAX_ENTRIES:
        raise BadArchive(f"it has more than {MAX_ENTRIES} entries")
    if archive.pax_headers:
        # containerd's reader (Go) does not apply it to other entries, and Python's does.
        raise BadArchive("it has a global PAX header, which image tools do not write")
    if member.size < 0 or member.offset <= last or len(member.name) > MAX_NAME or member.issparse():
        raise BadArchive(f"entry {count} is sparse, or has a header that image tools do not write")


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> tuple[str, int, bytes | None]:
    sha256 = hashlib.sha256()
    document: bytearray | None = bytearray() if member.size <= MAX_DOCUMENT else None
    source = archive.extractfile(member)
    remaining = member.size
    while source is not None and remaining:
        chunk = source.read(min(remaining, MAX_CHUNK))
        if not chunk:
            raise BadArchive(f"it ends inside {member.name[:80]!r}")
        remaining -= len(chunk)
        sha256.update(chunk)
        if document is not None:
            document = document + chunk if document or chunk.lstrip().startswith(_JSON_STARTS) else None
    return f"sha256:{sha256.hexdigest()}", member.size, bytes(document) if document else None


def _hash_file(stream: BinaryIO) -> tuple[str, int]:
    sha256, size = hashlib.sha256(), 0
    while chunk := stream.read(MAX_CHUNK):
        sha256.update(chunk)
        size += len(chunk)
    return sha256.hexdigest(), size
