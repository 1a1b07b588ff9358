# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The initial file system of a node: busybox, the modules for disk and network, and the node's own files.

Debian's initramfs-tools would start udev, which takes several seconds under emulation.
"""

from __future__ import annotations

import lzma
import posixpath
import tarfile
from collections.abc import Mapping, Sequence

from . import cpio
from .root import kernel_release, read

MODULES = ("virtio_pci", "virtio_blk", "virtio_net", "crc32c_generic", "crc32c-intel", "ext4", "overlay")
"""Modules that a node needs before systemd runs, in the order of loading; built-in modules are skipped."""


def common_part(tar: tarfile.TarFile, init: bytes, busybox: bytes) -> bytes:
    """An uncompressed cpio archive for the kernel of the root file system ``tar``."""
    modules_directory = f"./usr/lib/modules/{kernel_release(tar)}"
    dependencies = parse_dependencies(read(tar, f"{modules_directory}/modules.dep").decode())
    modules = {
        _module_name(path): _decompress(path, read(tar, f"{modules_directory}/{path}"))
        for path in load_order(MODULES, dependencies)
    }
    return _archive(init, busybox, modules)


def without_modules(init: bytes, busybox: bytes) -> bytes:
    """An uncompressed cpio archive for a kernel without modules."""
    return _archive(init, busybox, {})


def _archive(init: bytes, busybox: bytes, modules: Mapping[str, bytes]) -> bytes:
    entries = [
        cpio.Entry("init", init, 0o755),
        cpio.Entry("bin/busybox", busybox, 0o755),
        cpio.Entry("modules/order", "".join(f"{name}.ko\n" for name in modules).encode()),
        *(cpio.Entry(f"modules/{name}.ko", code) for name, code in modules.items()),
    ]
    return cpio.archive(entries)


def node_part(network: str, files: dict[str, str], links: dict[str, str]) -> bytes:
    """The part of one node, appended to the common part: its address, and the files and links of its first boot."""
    entries: list[cpio.Entry | cpio.Link] = [cpio.Entry("node/network", network.encode())]
    entries += [cpio.Entry(f"node/files{path}", text.encode()) for path, text in sorted(files.items())]
    entries += [cpio.Link(f"node/files{path}", target) for path, target in sorted(links.items())]
    return cpio.archive(entries)


def parse_dependencies(text: str) -> dict[str, list[str]]:
    """``modules.dep``: module path to the paths to load before it, in reverse order of loading."""
    lines = (line.split(":", 1) for line in text.splitlines() if ":" in line)
    return {path: needed.split() for path, needed in lines}


def load_order(names: Sequence[str], dependencies: dict[str, list[str]]) -> list[str]:
    """Paths of the named modules and their dependencies, in the order of loading."""
    by_name = {_module_name(path): path for path in dependencies}
    order: dict[str, bool] = {}
    for name in names:
        path = by_name.get(name.replace("-", "_"))
        for module in [*reversed(dependencies[path]), path] if path else []:
            order[module] = True
    return list(order)


def _module_name(path: str) -> str:
    return posixpath.basename(path).split(".ko")[0].replace("-", "_")


def _decompress(path: str, code: bytes) -> bytes:
    """Debian compresses modules since trixie; insmod of busybox loads plain ones."""
    return lzma.decompress(code) if path.endswith(".xz") else code
