# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Debian root file systems with all programs of a node except kubelet."""

from __future__ import annotations

import re
import tarfile
from dataclasses import dataclass
from pathlib import Path

from . import command
from .apt_sources import debian_source, host_sources
from .cache import Cache, Recipe
from .errors import LabError
from .privilege import mmdebstrap_mode
from .progress import Progress
from .requirements import MMDEBSTRAP, need
from .spec import Suite

PACKAGES = (
    "busybox-static",
    "containerd",
    "crun",
    "dbus",
    "iproute2",
    "iptables",
    "kmod",
    "linux-image-cloud-amd64",
    "openssh-server",
    "procps",
    "python3",
    "runc",
    "systemd",
    "systemd-sysv",
    "udev",
    "containernetworking-plugins",
)
STALE = {Suite.FORKY: ('--aptopt=Acquire::Check-Valid-Until "false"',)}
"""Signatures of Debian testing expire after a week; accept a mirror that was not updated since."""

LEFT_OUT = ("/usr/share/doc/*", "/usr/share/info/*", "/usr/share/locale/*", "/usr/share/man/*")


@dataclass(frozen=True)
class Root:
    """One root file system in the cache."""

    directory: Path

    @property
    def archive(self) -> Path:
        return self.directory / "root.tar"

    @property
    def kernel(self) -> Path:
        return self.directory / "vmlinuz"

    @property
    def busybox(self) -> Path:
        """A static busybox."""
        return self.directory / "busybox"

    @property
    def containerd_config(self) -> Path:
        """``/etc/containerd/config.toml`` as the package installs it."""
        return self.directory / "containerd.toml"


def recipe(suite: Suite) -> Recipe:
    """The inputs of a root file system."""
    return Recipe("root", suite.value, (suite.value, *PACKAGES, *LEFT_OUT))


def obtain(cache: Cache, suite: Suite) -> Root:
    """The root file system of a release."""
    return Root(
        cache.obtain(recipe(suite), lambda directory, log: _build(suite, directory, log), Progress(suite.value))
    )


def read(tar: tarfile.TarFile, name: str) -> bytes:
    """A regular file of an archive."""
    try:
        stream = tar.extractfile(name)
    except KeyError:
        stream = None
    if stream is None:
        raise LabError(f"{tar.name!r} has no file {name}: the lab does not support this image")
    return stream.read()


def kernel_release(tar: tarfile.TarFile) -> str:
    """Release of the only kernel of a root file system."""
    kernels = sorted(name for name in tar.getnames() if re.fullmatch(r"\./boot/vmlinuz-.+", name))
    if len(kernels) != 1:
        raise LabError(f"{tar.name!r} has {len(kernels)} kernels, not one")
    return kernels[0].split("vmlinuz-", 1)[1]


def _build(suite: Suite, directory: Path, log: Path) -> None:
    root = Root(directory)
    argv = [
        need(MMDEBSTRAP),
        *(
            "--variant=minbase",
            "--format=tar",
            f"--mode={mmdebstrap_mode()}",
            f"--include={','.join(PACKAGES)}",
        ),
        '--aptopt=APT::Install-Recommends "false"',
        *STALE.get(suite, ()),
        *(f"--dpkgopt=path-exclude={pattern}" for pattern in LEFT_OUT),
        *(suite.value, str(root.archive), debian_source(host_sources()).uri),
    ]
    # The lab makes its own initial file system: INITRD=No saves the minute that initramfs-tools would take.
    command.logged(argv, log, env={"INITRD": "No"})
    with tarfile.open(root.archive) as tar:
        root.kernel.write_bytes(read(tar, f"./boot/vmlinuz-{kernel_release(tar)}"))
        root.busybox.write_bytes(read(tar, "./usr/bin/busybox"))
        root.containerd_config.write_bytes(read(tar, "./etc/containerd/config.toml"))
