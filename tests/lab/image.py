# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Debian root file systems, and the disks and initial file systems made of them."""

from __future__ import annotations

import io
import os
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Tuple

from . import command, initrd
from .apt_sources import debian_source, host_sources
from .cache import Cache, Recipe
from .node_files import MASKED_UNITS, WANTED_UNITS, kubelet_unit
from .progress import Progress
from .requirements import MKFS, MMDEBSTRAP, NEWUIDMAP, QEMU_IMG, TAR, UNSHARE, need
from .spec import Suite

GUEST = Path(__file__).resolve().parent / "guest"

PACKAGES = (
    "busybox-static,containerd,dbus,iproute2,iptables,kmod,linux-image-cloud-amd64,openssh-server,procps,python3,runc,"
    "systemd,systemd-sysv,udev"
)
LEAN = ("/usr/share/doc/*", "/usr/share/info/*", "/usr/share/locale/*", "/usr/share/man/*")
DISK_SIZE = "4G"
CONTAINERD_CONFIG = "containerd.toml"


@dataclass(frozen=True)
class Kubelet:
    """A kubelet binary on the host and the (major, minor) version it says it is."""

    path: Path
    digest: str
    version: Tuple[int, int]
    release: str


@dataclass(frozen=True)
class Boot:
    """What QEMU boots a node from; ``containerd_config`` is the text that the Debian package installs."""

    disk: Path
    kernel: Path
    initrd: Path
    containerd_config: str


def root_recipe(suite: Suite) -> Recipe:
    """A root file system of ``suite`` with everything a node runs but kubelet."""
    return Recipe("root", suite.value, (suite.value, PACKAGES, *LEAN))


def obtain_root(cache: Cache, suite: Suite) -> Path:
    """Folder with ``root.tar``, ``vmlinuz`` and ``containerd.toml``."""
    return cache.obtain(root_recipe(suite), lambda folder, log: _debootstrap(suite, folder, log), Progress(suite.value))


def obtain_boot(cache: Cache, kernel_suite: Suite) -> Path:
    """Folder with ``initrd.img`` for the kernel of ``kernel_suite``."""
    init = (GUEST / "init").read_bytes()
    recipe = Recipe("boot", kernel_suite.value, (root_recipe(kernel_suite).name, init.decode(), *initrd.MODULES))
    root = obtain_root(cache, kernel_suite)

    def build(folder: Path, _log: Path) -> None:
        (folder / "initrd.img").write_bytes(initrd.build(root / "root.tar", init))

    return cache.obtain(recipe, build, Progress(f"{kernel_suite.value} kernel"))


def obtain(cache: Cache, suite: Suite, kernel_suite: Suite, kubelet: Kubelet, images: bytes) -> Boot:
    """Everything to boot a node of ``suite`` on the kernel of ``kernel_suite``."""
    label = suite.value if suite is kernel_suite else f"{suite.value}-on-{kernel_suite.value}"
    files = _files_tar(kubelet, images)
    parts = (root_recipe(suite).name, root_recipe(kernel_suite).name, initrd.digest(files), DISK_SIZE)
    roots = [obtain_root(cache, suite), obtain_root(cache, kernel_suite)]
    boot = obtain_boot(cache, kernel_suite)
    disk = cache.obtain(
        Recipe("disk", label, parts),
        lambda folder, log: _make_disk(roots, files, folder, log),
        Progress(f"{label} disk"),
    )
    return Boot(
        disk / "disk.qcow2", roots[1] / "vmlinuz", boot / "initrd.img", (roots[0] / CONTAINERD_CONFIG).read_text()
    )


def busybox(cache: Cache) -> bytes:
    """The static busybox of bookworm, for container images."""
    with tarfile.open(obtain_root(cache, Suite.BOOKWORM) / "root.tar") as tar:
        return initrd.content(tar, "./usr/bin/busybox")


def _debootstrap(suite: Suite, folder: Path, log: Path) -> None:
    mirror = debian_source(host_sources())
    argv = [need(MMDEBSTRAP), "--variant=minbase", "--format=tar", f"--include={PACKAGES}"]
    if os.geteuid() == 0:
        argv.append("--mode=root")
    else:
        need(NEWUIDMAP)
        argv.append("--mode=unshare")
    argv += ['--aptopt=APT::Install-Recommends "false"', *(f"--dpkgopt=path-exclude={pattern}" for pattern in LEAN)]
    # The initial file system is our own: INITRD=No spares the minute that initramfs-tools would take.
    command.logged([*argv, suite.value, str(folder / "root.tar"), mirror.uri], log, env={"INITRD": "No"})
    with tarfile.open(folder / "root.tar") as tar:
        (folder / "vmlinuz").write_bytes(initrd.kernel(tar))
        (folder / CONTAINERD_CONFIG).write_bytes(initrd.content(tar, "./etc/containerd/config.toml"))


def _make_disk(roots: List[Path], files: bytes, folder: Path, log: Path) -> None:
    """ext4 made from a folder needs no mount and no loop device; without root the folder's owners are those of a user namespace."""
    tree, raw, added = folder / "tree", folder / "disk.raw", folder / "files.tar"
    inside = _as_root()
    tree.mkdir()
    added.write_bytes(files)
    extract = [*inside, need(TAR), "--extract", "--numeric-owner", "--preserve-permissions", f"--directory={tree}"]
    command.logged([*extract, f"--file={roots[0] / 'root.tar'}", "--exclude=./dev/*"], log)
    if roots[1] != roots[0]:
        command.logged([*extract, f"--file={roots[1] / 'root.tar'}", "./usr/lib/modules"], log)
    command.logged([*extract, f"--file={added}", "--keep-directory-symlink"], log)
    # Inode tables are zeroed here, where zeros cost nothing, and not by a kernel thread of the emulated guest.
    made = "lazy_itable_init=0,lazy_journal_init=0,nodiscard"
    command.logged([*inside, need(MKFS), "-q", "-F", "-m", "0", "-E", made, "-d", str(tree), str(raw), DISK_SIZE], log)
    command.logged([need(QEMU_IMG), "convert", "-O", "qcow2", str(raw), str(folder / "disk.qcow2")], log)
    command.logged([*inside, "rm", "-rf", str(tree), str(raw), str(added)], log)


def _as_root() -> List[str]:
    if os.geteuid() == 0:
        return []
    need(NEWUIDMAP)
    return [need(UNSHARE), "--user", "--map-root-user", "--map-auto", "--"]


def _files_tar(kubelet: Kubelet, images: bytes) -> bytes:
    """Files that every lab node has on top of Debian, as a tar archive with nothing in it that differs between two builds."""
    files: Dict[str, Tuple[bytes, int]] = {
        str(path.relative_to(GUEST / "root")): (path.read_bytes(), 0o644)
        for path in sorted((GUEST / "root").rglob("*"))
        if path.is_file()
    }
    files["usr/bin/kubelet"] = (kubelet.path.read_bytes(), 0o755)
    files["usr/share/lab/images.tar"] = (images, 0o644)
    files["usr/lib/systemd/system/kubelet.service"] = (kubelet_unit(kubelet.version).encode(), 0o644)
    files["var/lib/lab/README"] = (b"Marks of the lab: what was done once on this node.\n", 0o644)
    units = "etc/systemd/system"
    links = {f"{units}/{unit}": "/dev/null" for unit in MASKED_UNITS}
    links.update({f"{units}/multi-user.target.wants/{unit}": path for unit, path in WANTED_UNITS.items()})
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for path, (content, mode) in files.items():
            member = tarfile.TarInfo(path)
            member.size, member.mode = len(content), mode
            tar.addfile(member, io.BytesIO(content))
        for path, target in links.items():
            member = tarfile.TarInfo(path)
            member.type, member.linkname = tarfile.SYMTYPE, target
            tar.addfile(member)
    return stream.getvalue()
