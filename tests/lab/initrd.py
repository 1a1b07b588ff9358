# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The initial file system of a node: busybox, the few modules that reach disk and network, and the node's own files.

Debian's initramfs-tools starts udev; under emulation that alone takes several seconds.
"""

from __future__ import annotations

import hashlib
import lzma
import posixpath
import re
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Dict, List

from . import cpio
from .errors import LabError

MODULES = ("virtio_pci", "virtio_blk", "virtio_net", "crc32c_generic", "crc32c-intel", "ext4", "overlay")
"""Modules a node needs before systemd runs, in the order of loading; what the kernel has built in is left out."""

_MODULE_ROOT = "./usr/lib/modules"


def build(root_tar: Path, init: bytes) -> bytes:
    """An uncompressed cpio archive for the kernel in ``root_tar``."""
    with tarfile.open(root_tar) as tar:
        version = _version(tar)
        dependencies = parse_dependencies(content(tar, f"{_MODULE_ROOT}/{version}/modules.dep").decode())
        order = load_order(MODULES, dependencies)
        modules = {
            _module_name(path): _unpacked(path, content(tar, f"{_MODULE_ROOT}/{version}/{path}")) for path in order
        }
        shell = content(tar, "./usr/bin/busybox")
    listing = "".join(f"{name}.ko\n" for name in modules)
    entries = [
        cpio.Entry("init", init, 0o755),
        cpio.Entry("bin/busybox", shell, 0o755),
        cpio.Entry("modules/order", listing.encode()),
        *(cpio.Entry(f"modules/{name}.ko", code) for name, code in modules.items()),
    ]
    return cpio.archive(entries)


def node_part(network: str, files: Dict[str, bytes]) -> bytes:
    """What is appended to the common part for one node: its address and the files it gets at its first boot."""
    entries = [cpio.Entry("node/network", network.encode())]
    entries += [cpio.Entry(f"node/files{path}", text) for path, text in sorted(files.items())]
    return cpio.archive(entries)


def parse_dependencies(text: str) -> Dict[str, List[str]]:
    """``modules.dep``: path of a module to the paths that must be loaded before it, the first needed last."""
    lines = (line.split(":", 1) for line in text.splitlines() if ":" in line)
    return {path: needed.split() for path, needed in lines}


def load_order(names: Sequence[str], dependencies: Dict[str, List[str]]) -> List[str]:
    """Paths of the named modules and of all they need, each after what it needs."""
    by_name = {_module_name(path): path for path in dependencies}
    order: Dict[str, bool] = {}
    for name in names:
        path = by_name.get(name.replace("-", "_"))
        for each in [*reversed(dependencies[path]), path] if path else []:
            order[each] = True
    return list(order)


def kernel(tar: tarfile.TarFile) -> bytes:
    """The one kernel of a root file system."""
    return content(tar, f"./boot/vmlinuz-{_version(tar)}")


def content(tar: tarfile.TarFile, name: str) -> bytes:
    """A regular file of an archive."""
    try:
        stream = tar.extractfile(name)
    except KeyError:
        stream = None
    if stream is None:
        raise LabError(f"{tar.name!r} has no file {name}: the image is not what the lab expects")
    return stream.read()


def digest(blob: bytes) -> str:
    """Hex SHA-256 of a blob."""
    return hashlib.sha256(blob).hexdigest()


def _version(tar: tarfile.TarFile) -> str:
    found = sorted(name for name in tar.getnames() if re.fullmatch(r"\./boot/vmlinuz-.+", name))
    if len(found) != 1:
        raise LabError(f"{tar.name!r} has {len(found)} kernels, not one")
    return found[0].split("vmlinuz-", 1)[1]


def _module_name(path: str) -> str:
    return posixpath.basename(path).split(".ko")[0].replace("-", "_")


def _unpacked(path: str, code: bytes) -> bytes:
    """Debian compresses modules since trixie; insmod of busybox loads plain ones."""
    return lzma.decompress(code) if path.endswith(".xz") else code
