# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The containerd programs that are judges: Debian's, from its root file systems, and those that the lab builds."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.volcano.colocation.tests.lab import command, programs, root
from ansible_collections.volcano.colocation.tests.lab.cache import Cache
from ansible_collections.volcano.colocation.tests.lab.program_table import CONTAINERD, FAMILIES, BuildSet, Family
from ansible_collections.volcano.colocation.tests.lab.spec import Suite

DEBIAN = {"1.6": Suite.BOOKWORM, "1.7": Suite.TRIXIE, "2.1": Suite.FORKY}
"""Debian's suite by release of containerd. The 1.7 of `make test-matrix` is another patch version."""

PROGRAM = CONTAINERD[0]
LAB = tuple(family for family in FAMILIES if family.name.startswith("containerd-"))


@dataclass(frozen=True)
class Containerd:
    """A program and the version that it prints."""

    path: Path
    version: str

    @property
    def release(self) -> str:
        """2.4"""
        return ".".join(self.version.split(".")[:2])

    @property
    def major(self) -> int:
        return int(self.version.split(".")[0])


def releases() -> tuple[str, ...]:
    """Releases that every run of `make test` has."""
    return (*DEBIAN, *_lab_releases(BuildSet.TEST))


def matrix_releases() -> tuple[str, ...]:
    """Releases that only `make test-matrix` has."""
    return tuple(_lab_releases(BuildSet.MATRIX))


def obtain(cache: Cache, release: str, directory: Path) -> Containerd:
    """The containerd of a release in `make test`; Debian's is unpacked into ``directory``."""
    if release in DEBIAN:
        return _described(_unpacked(root.obtain(cache, DEBIAN[release]), directory))
    return obtain_built(cache, release)


def obtain_built(cache: Cache, release: str) -> Containerd:
    """The containerd of a release that the lab builds."""
    family = next(lab_family for lab_family in LAB if _release(lab_family) == release)
    return _described(programs.obtain(cache, family.name, CONTAINERD).path(PROGRAM))


def _lab_releases(build_set: BuildSet) -> Iterator[str]:
    return (_release(family) for family in LAB if family.group_of(PROGRAM).build_set is build_set)


def _release(family: Family) -> str:
    return family.name.removeprefix("containerd-")


def _unpacked(debian: root.Root, directory: Path) -> Path:
    """The program from Debian's archive; its only library is the C library, which any machine that runs the lab has."""
    path = directory / PROGRAM
    with tarfile.open(debian.archive) as tar:
        path.write_bytes(root.read(tar, f"./usr/bin/{PROGRAM}"))
    path.chmod(0o700)
    return path


def _described(path: Path) -> Containerd:
    output = command.output([str(path), "--version"])
    match = re.search(r" v?(\d+\.\d+\.\d+\S*)", output)
    assert match, f"{path} --version prints {output!r}"
    return Containerd(path, match[1])
