# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Debian 13's Python for a machine without a new one, unpacked from the lab's root file system and started in place.

Its own loader and libraries run it, so it needs neither root nor a chroot, and it can start the machine's programs.
"""

from __future__ import annotations

import platform
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..lab import root
from ..lab.cache import Cache
from ..lab.paths import cache_root
from ..lab.spec import Suite
from . import venvs

VERSION = "3.13"
LIBRARIES = f"usr/lib/{platform.machine()}-linux-gnu"
PROGRAM = f"usr/bin/python{VERSION}"
STANDARD_LIBRARY = f"usr/lib/python{VERSION}/"
NAME = "python"
"""The starter script; it is in the directory of Debian's python, so that Python finds its standard library."""

STARTER = """\
#!/bin/sh
exec {loader} --argv0 "$0" --library-path {libraries} {program} "$@"
"""
"""ld.so(8). With this argv0 Python uses the starter, or a virtual environment's link to it, as its executable."""


def provide() -> Path:
    """The path of the Python; LabError, or UnavailableError with what the machine lacks, if it cannot be made."""
    built = root.obtain(Cache(cache_root()), Suite.TRIXIE)
    directory = venvs.shared("trixie") / venvs.digest([built.directory.name, STARTER, *sorted(_PARTS)])
    return venvs.obtain(directory, lambda target: unpack(built.archive, target)) / "usr/bin" / NAME


_PARTS = (PROGRAM, STANDARD_LIBRARY, LIBRARIES)


def unpack(archive: Path, directory: Path) -> None:
    """Unpack the parts of a root file system that Python needs, and write the starter."""
    with tarfile.open(archive) as tar:
        # Python 3.11.2 of Debian 12 does not have filters yet.
        tar.extraction_filter = getattr(tarfile, "tar_filter", None)
        tar.extractall(directory, members=list(python_members(tar)))  # noqa: S202 - the lab made the archive
    (loader,) = (directory / LIBRARIES).glob("ld-linux-*.so.*")
    starter = directory / "usr/bin" / NAME
    text = STARTER.format(loader=loader, libraries=directory / LIBRARIES, program=directory / PROGRAM)
    starter.write_text(text, encoding="utf-8")
    starter.chmod(0o755)


def python_members(members: Iterable[tarfile.TarInfo]) -> Iterator[tarfile.TarInfo]:
    """Python's program, its standard library and all shared libraries, which are in one directory."""
    for member in members:
        name = member.name.removeprefix("./")
        above, _slash, last = name.rpartition("/")
        if name == PROGRAM or name.startswith(STANDARD_LIBRARY) or (above == LIBRARIES and ".so" in last):
            yield member
