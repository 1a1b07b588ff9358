# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The disk and the initial file system that nodes start from."""

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

DISK = "disk.raw"
"""What the disks of nodes overlay, on every engine."""


@dataclass(frozen=True)
class Image:
    """What a disk is made of: a userland, the root file system with the kernel's modules, and the lab's own files."""

    label: str
    userland: Root
    kernel: Root
    files: BaseFiles
    recipe: Recipe
    kernel_suite: Suite

    @property
    def containerd_config(self) -> str:
        """The text that the Debian package installs, or that another containerd prints."""
        containerd = self.files.containerd
        return containerd.config if containerd else self.userland.containerd_config.read_text()


@dataclass(frozen=True)
class Boot:
    """What a node is booted from; ``disk`` is None for a node that brings its own, ``seed`` a copy for a start."""

    disk: Path | None
    kernel: Path
    initrd: Path
    containerd_config: str
    seed: Path | None = None


def image(
    cache: Cache, suite: Suite, kernel_suite: Suite, kubelet: Kubelet | None, containerd: Containerd | None = None
) -> Image:
    """The image of a node of ``suite`` on the kernel of ``kernel_suite``; its root file systems are built now."""
    userland = root.obtain(cache, suite)
    kernel = userland if kernel_suite is suite else root.obtain(cache, kernel_suite)
    sandboxes = containerd.sandbox_images if containerd else ()
    files = base_files(kubelet, archive(obtain_pause(cache), userland.busybox.read_bytes(), sandboxes), containerd)
    label = suite.value if kernel_suite is suite else f"{suite.value}-on-{kernel_suite.value}"
    recipe = Recipe("disk", label, (root.recipe(suite).name, root.recipe(kernel_suite).name, files.recipe, SIZE, DISK))
    return Image(label, userland, kernel, files, recipe, kernel_suite)


def obtain(cache: Cache, node_image: Image, engine: Engine) -> Boot:
    """Everything to boot nodes of an image."""
    progress = Progress(f"{node_image.label} disk")
    directory = cache.obtain(node_image.recipe, lambda partial, log: _build(node_image, partial, log), progress)
    boot = dataclasses.replace(without_disk(cache, node_image, engine), disk=directory / DISK)
    if engine is not Engine.UML:
        return boot
    return dataclasses.replace(boot, seed=seed.obtain(cache, boot.kernel, boot.initrd, directory / DISK))


def without_disk(cache: Cache, node_image: Image, engine: Engine) -> Boot:
    """The same for a node that brings its own disk."""
    init = (GUEST / "init").read_bytes()
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
    """The root file system of an image in the empty directory ``tree``, with the files of the tar archive ``more``."""
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
    """A raw disk with the content of ``tree``, sparse: ext4 made from a directory needs no mount and no loop device."""
    # Inode tables are zeroed here, where zeros cost nothing, and not by a thread of the node's kernel.
    zeroed = "lazy_itable_init=0,lazy_journal_init=0,nodiscard"
    command.logged([*as_root(), need(MKFS), "-q", "-F", "-m", "0", "-E", zeroed, "-d", str(tree), str(disk), SIZE], log)


def _build(node_image: Image, directory: Path, log: Path) -> None:
    tree = directory / "tree"
    tree.mkdir()
    unpack(node_image, b"", tree, directory, log)
    write(tree, directory / DISK, log)
    command.logged([*as_root(), "rm", "-rf", str(tree)], log)
