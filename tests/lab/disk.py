# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The disk and the initial file system from which nodes start."""

from __future__ import annotations

import dataclasses
import tarfile
from dataclasses import dataclass
from pathlib import Path

from . import command, initrd, root
from .base_files import BaseFiles, base_files
from .cache import Cache, Recipe, digest
from .containerd import Containerd
from .images import archive
from .kubernetes import Kubelet, obtain_pause
from .machine import INITRD
from .paths import GUEST
from .privilege import as_root
from .progress import Progress
from .requirements import MKFS, TAR, need
from .root import Root
from .spec import Engine, Suite
from .uml import kernel as uml_kernel
from .uml import seed

SIZE = "4G"

INTERPRETER = b"#!/bin/busybox sh\n"
"""The first line of guest/init. The initial file system has only busybox; ansible-test refuses this interpreter."""

DISK = "disk.raw"
"""The base disk that the disks of nodes overlay, on every engine."""


@dataclass(frozen=True)
class Image:
    """The content of a disk: a userland, the root file system with the kernel's modules, and the lab's own files."""

    label: str
    userland: Root
    kernel: Root
    files: BaseFiles
    recipe: Recipe
    kernel_suite: Suite

    @property
    def containerd_config(self) -> str:
        """The configuration of Debian's package, or the default configuration of another containerd."""
        containerd = self.files.containerd
        return containerd.config if containerd else self.userland.containerd_config.read_text()


@dataclass(frozen=True)
class Boot:
    """The files that boot a node. ``disk`` is None for a node with its own disk; ``seed`` is copied for each node."""

    disk: Path | None
    kernel: Path
    initrd: Path
    containerd_config: str
    seed: Path | None = None


def image(
    cache: Cache, suite: Suite, kernel_suite: Suite, kubelet: Kubelet | None, containerd: Containerd | None = None
) -> Image:
    """The image of a node of ``suite`` on the kernel of ``kernel_suite``; builds missing root file systems."""
    userland = root.obtain(cache, suite)
    kernel = userland if kernel_suite is suite else root.obtain(cache, kernel_suite)
    sandboxes = containerd.sandbox_images if containerd else ()
    files = base_files(kubelet, archive(obtain_pause(cache), userland.busybox.read_bytes(), sandboxes), containerd)
    label = suite.value if kernel_suite is suite else f"{suite.value}-on-{kernel_suite.value}"
    recipe = Recipe("disk", label, (root.recipe(suite).name, root.recipe(kernel_suite).name, files.recipe, SIZE, DISK))
    return Image(label, userland, kernel, files, recipe, kernel_suite)


def obtain(cache: Cache, node_image: Image, engine: Engine) -> Boot:
    """The files that boot nodes of an image."""
    progress = Progress(f"{node_image.label} disk")
    directory = cache.obtain(node_image.recipe, lambda partial, log: _build(node_image, partial, log), progress)
    boot = dataclasses.replace(without_disk(cache, node_image, engine), disk=directory / DISK)
    if engine is not Engine.UML:
        return boot
    return dataclasses.replace(boot, seed=seed.obtain(cache, boot.kernel, boot.initrd, directory / DISK))


def without_disk(cache: Cache, node_image: Image, engine: Engine) -> Boot:
    """The files that boot a node with its own disk."""
    init = INTERPRETER + (GUEST / "init").read_bytes()
    if engine is Engine.UML:
        return Boot(
            None, uml_kernel.obtain(cache), _plain_initrd(cache, node_image, init), node_image.containerd_config
        )
    initial = _obtain_initrd(cache, node_image.kernel_suite, node_image.kernel, init)
    return Boot(None, node_image.kernel.kernel, initial, node_image.containerd_config)


def _obtain_initrd(cache: Cache, suite: Suite, kernel: Root, init: bytes) -> Path:
    recipe = Recipe("initrd", suite.value, (root.recipe(suite).name, init.decode(), *initrd.MODULES))

    def build(directory: Path, _log: Path) -> None:
        with tarfile.open(kernel.archive) as tar:
            (directory / INITRD).write_bytes(initrd.common_part(tar, init, kernel.busybox.read_bytes()))

    return cache.obtain(recipe, build, Progress(f"{suite.value} initrd")) / INITRD


def _plain_initrd(cache: Cache, node_image: Image, init: bytes) -> Path:
    busybox = node_image.userland.busybox.read_bytes()
    recipe = Recipe("initrd", "plain", (digest(busybox), init.decode()))

    def build(directory: Path, _log: Path) -> None:
        (directory / INITRD).write_bytes(initrd.without_modules(init, busybox))

    return cache.obtain(recipe, build, Progress("initrd without modules")) / INITRD


def unpack(node_image: Image, more: bytes, tree: Path, work: Path, log: Path) -> None:
    """Unpack an image's root file system and the tar archive ``more`` into the empty directory ``tree``."""
    extract = [*as_root(), need(TAR), "--extract", "--numeric-owner", "--preserve-permissions", f"--directory={tree}"]
    command.logged([*extract, f"--file={node_image.userland.archive}", "--exclude=./dev/*"], log)
    if node_image.kernel != node_image.userland:
        command.logged([*extract, f"--file={node_image.kernel.archive}", "./usr/lib/modules"], log)
    added = work / "files.tar"
    for blob in filter(None, (node_image.files.archive(), more)):
        added.write_bytes(blob)
        command.logged([*extract, f"--file={added}", "--keep-directory-symlink"], log)
    added.unlink()


def write(tree: Path, disk: Path, log: Path) -> None:
    """Write a sparse raw disk with the content of ``tree``: mkfs.ext4 -d needs no mount and no loop device."""
    # Zero the inode tables here, where zeros are cheap; otherwise a thread of the node's kernel would do it.
    zeroed = "lazy_itable_init=0,lazy_journal_init=0,nodiscard"
    command.logged([*as_root(), need(MKFS), "-q", "-F", "-m", "0", "-E", zeroed, "-d", str(tree), str(disk), SIZE], log)


def _build(node_image: Image, directory: Path, log: Path) -> None:
    tree = directory / "tree"
    tree.mkdir()
    unpack(node_image, b"", tree, directory, log)
    write(tree, directory / DISK, log)
    command.logged([*as_root(), "rm", "-rf", str(tree)], log)
