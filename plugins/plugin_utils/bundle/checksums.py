# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The file SHA256SUMS of a bundle, in the format of sha256sum, and the comparison of a directory with it.

Names and files are not trusted: a bundle may have been changed on its way.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ..profile.validators import ProfileError
from .bundle_document import CHECKSUMS, DIRECTORY

MAX_LINES = 10_000
MAX_BYTES = 4 << 20
NAMED_PROBLEMS = 10
_CHUNK = 1 << 20
_LINE = re.compile(r"([0-9a-f]{64}) [ *]([!-~][ -~]*)")
"""As sha256sum writes it; names with other characters than printable ASCII are never in a bundle."""


@dataclass(frozen=True)
class Listing:
    """A directory: the regular files below it, and everything else that is not a directory, with its kind."""

    files: frozenset[str]
    foreign: Mapping[str, str]


def render_checksums(digests: Mapping[str, str]) -> str:
    return "".join(f"{digests[name]}  {name}\n" for name in sorted(digests))


def parse_checksums(text: str, path: str) -> dict[str, str]:
    """Digests by name; ProfileError with the line of the first mistake."""
    digests: dict[str, str] = {}
    lines = text.splitlines()
    if not lines or len(lines) > MAX_LINES:
        raise _refusal(f"{path} has {len(lines)} lines, expected 1 to {MAX_LINES}")
    for number, line in enumerate(lines, 1):
        match = _LINE.fullmatch(line)
        if match is None:
            raise _refusal(f"{path}:{number}: it is not a SHA-256 with a name")
        digest, name = match.groups()
        if not _is_inside(name) or name == CHECKSUMS:
            raise _refusal(f"{path}:{number}: {name!r} is not the name of a file in the bundle")
        if name in digests:
            raise _refusal(f"{path}:{number}: {name} is listed twice")
        digests[name] = digest
    return digests


def _is_inside(name: str) -> bool:
    """Whether a name is a normalized path that cannot lead out of the directory."""
    parts = PurePosixPath(name).parts
    return "\\" not in name and ".." not in parts and not name.startswith("/") and "/".join(parts) == name


def list_directory(directory: Path) -> Listing:
    """Symbolic links are not followed."""
    files: set[str] = set()
    foreign: dict[str, str] = {}
    for root, names, leaves in os.walk(directory, onerror=_raise):
        for name in (*names, *leaves):
            path = Path(root, name)
            mode = path.lstat().st_mode
            relative = path.relative_to(directory).as_posix()
            if stat.S_ISREG(mode):
                files.add(relative)
            elif not stat.S_ISDIR(mode):
                foreign[relative] = "a symbolic link" if stat.S_ISLNK(mode) else "not a regular file"
    return Listing(frozenset(files), foreign)


def _raise(error: OSError) -> None:
    raise error


def file_sha256(path: Path) -> str:
    digest = hashlib.sha256()
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    with open(descriptor, "rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def directory_digests(directory: Path) -> dict[str, str]:
    """The digests of all files, except of SHA256SUMS itself."""
    return {name: file_sha256(directory / name) for name in sorted(list_directory(directory).files - {CHECKSUMS})}


def verify_directory(directory: Path, expected_sha256: str = "") -> str:
    """The SHA-256 of SHA256SUMS; ProfileError that names every file which is changed, missing or additional."""
    sums = directory / CHECKSUMS
    if not directory.is_dir():
        raise _refusal(f"{directory} is not a directory", "Set it to the directory of the bundle")
    listing = list_directory(directory)
    if CHECKSUMS not in listing.files:
        raise _refusal(
            f"{directory} has no file {CHECKSUMS}, which the build writes last: it is not a bundle, or not complete"
        )
    content = sums.read_bytes()
    actual = hashlib.sha256(content).hexdigest()
    if expected_sha256 and actual != expected_sha256.lower():
        raise ProfileError(
            "sha256",
            f"{sums} has the SHA-256 {actual}, expected {expected_sha256}. Nothing was changed. Copy the bundle again,"
            " or set the digest that the build of this bundle has shown",
        )
    if len(content) > MAX_BYTES:
        raise _refusal(f"{sums} has {len(content)} bytes, expected at most {MAX_BYTES}")
    expected = parse_checksums(content.decode("ascii", "replace"), str(sums))
    problems = list(find_problems(directory, expected, listing))
    if problems:
        more = f"; and {len(problems) - NAMED_PROBLEMS} more" if len(problems) > NAMED_PROBLEMS else ""
        raise _refusal(f"{directory}: {'; '.join(problems[:NAMED_PROBLEMS])}{more}")
    return actual


def find_problems(directory: Path, expected: Mapping[str, str], listing: Listing) -> Iterator[str]:
    for name, kind in sorted(listing.foreign.items()):
        yield f"{name} is {kind}"
    for name in sorted(expected.keys() - listing.files - listing.foreign.keys()):
        yield f"{name} is missing"
    for name in sorted(listing.files - expected.keys() - {CHECKSUMS}):
        yield f"{name} does not belong to the bundle"
    for name in sorted(expected.keys() & listing.files):
        if file_sha256(directory / name) != expected[name]:
            yield f"{name} was changed"


def _refusal(problem: str, remedy: str = "Copy the bundle again, or build it again") -> ProfileError:
    return ProfileError(DIRECTORY, f"{problem}. Nothing was changed. {remedy}")
