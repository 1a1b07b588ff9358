# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernel of user-mode Linux, built from Debian's kernel source with kernel.config."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from .. import command
from ..cache import Cache, Recipe
from ..debian import fetch_program
from ..errors import LabError
from ..progress import Progress
from ..requirements import BC, BISON, FLEX, GCC, MAKE, TAR, XZ, need
from .changes import CHANGES, apply

SUITE = "trixie-backports"
SOURCES = ("linux-source-7.2", "linux-source-7.3")
"""The first available package is used. The lab's measurements are of 7.2; ARCH=um has SMP from 7.0 on."""

CONFIG = Path(__file__).with_name("kernel.config")
TOOLS = (GCC, MAKE, FLEX, BISON, BC, XZ, TAR)


def recipe() -> Recipe:
    """The inputs of the kernel."""
    changes = (text for change in CHANGES for text in (change.path, change.before, change.after))
    return Recipe("uml-kernel", "linux", (*SOURCES, SUITE, CONFIG.read_text(), *changes))


def find(cache: Cache) -> Path | None:
    """The kernel; None when it is not built."""
    directory = cache.find(recipe())
    return directory / "linux" if directory else None


def obtain(cache: Cache) -> Path:
    """The kernel, built unless the cache has it, in about five minutes on two CPUs."""
    if find(cache) is None:
        for tool in TOOLS:
            need(tool)
    return cache.obtain(recipe(), _build, Progress("user-mode Linux")) / "linux"


def _build(directory: Path, log: Path) -> None:
    with tempfile.TemporaryDirectory(dir=directory) as work:
        tree = Path(work) / "tree"
        tree.mkdir()
        source = _source(Path(work), log)
        command.logged([need(TAR), "--extract", f"--file={source}", "--strip-components=1", f"--directory={tree}"], log)
        for change in CHANGES:
            apply(change, tree)
        make = [need(MAKE), "ARCH=um", f"KCONFIG_ALLCONFIG={CONFIG}"]
        command.logged([*make, "allnoconfig"], log, cwd=tree)
        _check_config(tree / ".config")
        command.logged([*make, f"-j{os.cpu_count() or 1}", "linux"], log, cwd=tree)
        (tree / "linux").rename(directory / "linux")


def _source(work: Path, log: Path) -> Path:
    """The archive of the kernel's source; LabError when Debian has none of ``SOURCES``."""
    errors = []
    for package in SOURCES:
        directory = work / package
        directory.mkdir()
        try:
            return fetch_program(package, SUITE, f"./usr/src/{package}.tar.xz", directory, log)
        except LabError as error:
            errors.append(str(error))
    raise LabError(f"no kernel source could be fetched from {SUITE}: {'; '.join(errors)}")


def _check_config(written: Path) -> None:
    """LabError when the source does not know an option that nodes need."""
    missing = sorted(set(_options(CONFIG.read_text())) - set(_options(written.read_text())))
    if missing:
        raise LabError(f"the kernel source does not know these options of {CONFIG.name}: {', '.join(missing)}")


def _options(text: str) -> Iterator[str]:
    return (line for line in text.splitlines() if line.startswith("CONFIG_"))
