# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The disk and the initial file system that nodes start from."""

from __future__ import annotations

import tarfile
from dataclasses import dataclass
from pathlib import Path

from . import command, initrd, root
from .base_files import BaseFiles, base_files
from .cache import Cache, Recipe
from .images import archive
from .kubernetes import Kubelet, obtain_pause
from .paths import GUEST
from .privilege import as_root
from .progress import Progress
from .requirements import MKFS, QEMU_IMG, TAR, need
from .root import Root
from .spec import Suite

SIZE = "4G"


@dataclass(frozen=True)
class Boot:
    """What QEMU boots a node from; ``containerd_config`` is the text that the Debian package installs."""

    disk: Path
    kernel: Path
    initrd: Path
    containerd_config: str


def obtain(cache: Cache, suite: Suite, kernel_suite: Suite, kubelet: Kubelet) -> Boot:
    """Everything to boot a node of ``suite`` on the kernel of ``kernel_suite``."""
    userland = root.obtain(cache, suite)
    kernel = userland if kernel_suite is suite else root.obtain(cache, kernel_suite)
    files = base_files(kubelet, archive(obtain_pause(cache), userland.busybox.read_bytes()))
    label = suite.value if kernel_suite is suite else f"{suite.value}-on-{kernel_suite.value}"
    recipe = Recipe("disk", label, (root.recipe(suite).name, root.recipe(kernel_suite).name, files.recipe, SIZE))
    folder = cache.obtain(
        recipe, lambda partial, log: _build(userland, kernel, files, partial, log), Progress(f"{label} disk")
    )
    return Boot(
        disk=folder / "disk.qcow2",
        kernel=kernel.kernel,
        initrd=_obtain_initrd(cache, kernel_suite, kernel),
        containerd_config=userland.containerd_config.read_text(),
    )


def _obtain_initrd(cache: Cache, suite: Suite, kernel: Root) -> Path:
    init = (GUEST / "init").read_bytes()
    recipe = Recipe("initrd", suite.value, (root.recipe(suite).name, init.decode(), *initrd.MODULES))

    def build(folder: Path, _log: Path) -> None:
        with tarfile.open(kernel.archive) as tar:
            (folder / "initrd.img").write_bytes(initrd.common_part(tar, init, kernel.busybox.read_bytes()))

    return cache.obtain(recipe, build, Progress(f"{suite.value} initrd")) / "initrd.img"


def _build(userland: Root, kernel: Root, files: BaseFiles, folder: Path, log: Path) -> None:
    """ext4 made from a folder needs no mount and no loop device."""
    tree, raw, added = folder / "tree", folder / "disk.raw", folder / "files.tar"
    inside = as_root()
    tree.mkdir()
    added.write_bytes(files.archive())
    extract = [*inside, need(TAR), "--extract", "--numeric-owner", "--preserve-permissions", f"--directory={tree}"]
    command.logged([*extract, f"--file={userland.archive}", "--exclude=./dev/*"], log)
    if kernel != userland:
        command.logged([*extract, f"--file={kernel.archive}", "./usr/lib/modules"], log)
    command.logged([*extract, f"--file={added}", "--keep-directory-symlink"], log)
    # Inode tables are zeroed here, where zeros cost nothing, and not by a kernel thread of the emulated guest.
    zeroed = "lazy_itable_init=0,lazy_journal_init=0,nodiscard"
    command.logged([*inside, need(MKFS), "-q", "-F", "-m", "0", "-E", zeroed, "-d", str(tree), str(raw), SIZE], log)
    command.logged([need(QEMU_IMG), "convert", "-O", "qcow2", str(raw), str(folder / "disk.qcow2")], log)
    command.logged([*inside, "rm", "-rf", str(tree), str(raw), str(added)], log)
