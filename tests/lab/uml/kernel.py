# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernel of user-mode Linux, built from Debian's kernel source with kernel.config."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .. import command
from ..cache import Cache, Recipe
from ..debian import fetch_program
from ..errors import LabError
from ..progress import Progress
from ..requirements import BC, BISON, FLEX, GCC, MAKE, TAR, XZ, need

SUITE = "trixie-backports"
SOURCES = ("linux-source-7.2", "linux-source-7.3")
"""The first available package is used. The lab's measurements are of 7.2; ARCH=um has SMP from 7.0 on."""

CONFIG = Path(__file__).with_name("kernel.config")
TOOLS = (GCC, MAKE, FLEX, BISON, BC, XZ, TAR)


@dataclass(frozen=True)
class Change:
    """One change to a source file: replaces every ``before``."""

    path: str
    before: str
    after: str


CHANGES = (
    # All interrupts share one array of events. While the network interrupt is handled, another may overwrite the disk's
    # event: its request never ends, and soon every process waits for the disk. With network load this happens within
    # seconds. An array of one event cannot lose a second event.
    Change("arch/um/os-Linux/irq.c", "#define MAX_EPOLL_EVENTS 64\n", "#define MAX_EPOLL_EVENTS 1\n"),
    # A CPU of the node is a thread of this machine. A CPU that spins for a mutex takes CPU time from the thread that
    # holds it: with other load, nodes spent two thirds of their time in mutex_spin_on_owner (perf, cpu-clock).
    Change(
        "kernel/Kconfig.locks",
        "depends on SMP && ARCH_SUPPORTS_ATOMIC_RMW\n",
        "depends on SMP && ARCH_SUPPORTS_ATOMIC_RMW && !UML\n",
    ),
)


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


def apply(change: Change, tree: Path) -> None:
    """Change a source file in place; LabError when it lacks the text: check whether the change is still needed."""
    path = tree / change.path
    text = path.read_text()
    if change.before not in text:
        raise LabError(f"the kernel's {change.path} lacks what {Path(__file__).name} changes: {change.before.strip()}")
    path.write_text(text.replace(change.before, change.after))


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
