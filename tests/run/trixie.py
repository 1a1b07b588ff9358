# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Debian 13's Python for a machine that has none as new: taken out of the lab's root file system and started in place.

Its own loader and libraries run it, so it needs neither root nor a chroot, and what it starts is the machine's.
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
"""The program that is called; it lies beside Debian's, whose standard library is found from there."""

STARTER = """\
#!/bin/sh
exec {loader} --argv0 "$0" --library-path {libraries} {program} "$@"
"""
"""ld.so(8). With this argv0 Python takes the starter, or a virtual environment's link to it, for itself."""


def provide() -> Path:
    """The Python; LabError, or UnavailableError with what the machine lacks, where there can be none."""
    built = root.obtain(Cache(cache_root()), Suite.TRIXIE)
    folder = venvs.shared("trixie") / venvs.digest([built.directory.name, STARTER, *sorted(_PARTS)])
    return venvs.obtain(folder, lambda target: unpack(built.archive, target)) / "usr/bin" / NAME


_PARTS = (PROGRAM, STANDARD_LIBRARY, LIBRARIES)


def unpack(archive: Path, folder: Path) -> None:
    """The parts of a root file system that Python is made of, and what starts it."""
    with tarfile.open(archive) as tar:
        # Python 3.11.2, which Debian 12 has, knows no filters yet.
        tar.extraction_filter = getattr(tarfile, "tar_filter", None)
        tar.extractall(folder, members=list(wanted(tar)))  # noqa: S202 - the archive is of our own making
    (loader,) = (folder / LIBRARIES).glob("ld-linux-*.so.*")
    starter = folder / "usr/bin" / NAME
    text = STARTER.format(loader=loader, libraries=folder / LIBRARIES, program=folder / PROGRAM)
    starter.write_text(text, encoding="utf-8")
    starter.chmod(0o755)


def wanted(members: Iterable[tarfile.TarInfo]) -> Iterator[tarfile.TarInfo]:
    """Python's program, its standard library and all shared libraries, which lie in one folder."""
    for member in members:
        name = member.name.removeprefix("./")
        above, _slash, last = name.rpartition("/")
        if name == PROGRAM or name.startswith(STANDARD_LIBRARY) or (above == LIBRARIES and ".so" in last):
            yield member
