# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The containerds that judge: those of Debian, out of its root file systems, and those that the lab built."""

from __future__ import annotations

import re
import tarfile
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.volcano.colocation.tests.lab import command, programs, root
from ansible_collections.volcano.colocation.tests.lab.cache import Cache
from ansible_collections.volcano.colocation.tests.lab.program_table import CONTAINERD, FAMILIES, BuildSet, Family
from ansible_collections.volcano.colocation.tests.lab.spec import Suite

DEBIAN = {"1.6": Suite.BOOKWORM, "1.7": Suite.TRIXIE, "2.1": Suite.FORKY}
"""Debian's releases by that of containerd. 1.7 of the lab's programs is another patch of the same release."""

PROGRAM = CONTAINERD[0]
LAB = tuple(
    each
    for each in FAMILIES
    if each.name.startswith("containerd-") and each.group_of(PROGRAM).build_set is BuildSet.TEST
)


@dataclass(frozen=True)
class Containerd:
    """A program and the version that it gives."""

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
    """Those that every run of `make test` has."""
    return (*DEBIAN, *map(_release, LAB))


def obtain(cache: Cache, release: str, folder: Path) -> Containerd:
    """The containerd of a release; Debian's is unpacked into ``folder``."""
    if release in DEBIAN:
        return _described(_unpacked(root.obtain(cache, DEBIAN[release]), folder))
    family = next(each for each in LAB if _release(each) == release)
    return _described(programs.obtain(cache, family.name, CONTAINERD).path(PROGRAM))


def _release(family: Family) -> str:
    return family.name.removeprefix("containerd-")


def _unpacked(debian: root.Root, folder: Path) -> Path:
    """Debian links it to the C library alone, which any machine that runs the lab has."""
    path = folder / PROGRAM
    with tarfile.open(debian.archive) as tar:
        path.write_bytes(root.read(tar, f"./usr/bin/{PROGRAM}"))
    path.chmod(0o700)
    return path


def _described(path: Path) -> Containerd:
    answer = command.output([str(path), "--version"])
    found = re.search(r" v?(\d+\.\d+\.\d+\S*)", answer)
    assert found, f"{path} --version prints {answer!r}"
    return Containerd(path, found[1])
