# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs of the host that the lab calls, and their Debian packages."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass

from .errors import UnavailableError

_SYSTEM = ("/usr/local/sbin", "/usr/sbin", "/sbin")


@dataclass(frozen=True)
class Program:
    """A program of the host and its package; ``directory`` is its location when that is not on PATH."""

    name: str
    package: str
    directory: str = ""


QEMU = Program("qemu-system-x86_64", "qemu-system-x86")
QEMU_IMG = Program("qemu-img", "qemu-utils")
MMDEBSTRAP = Program("mmdebstrap", "mmdebstrap")
MKFS = Program("mkfs.ext4", "e2fsprogs")
TAR = Program("tar", "tar")
GO_1_19 = Program("go", "golang-1.19-go", "/usr/lib/go-1.19/bin")
"""Kubernetes 1.20 builds without modules, which newer Go releases no longer test."""
APT_GET = Program("apt-get", "apt")
DPKG_DEB = Program("dpkg-deb", "dpkg")
DPKG_SOURCE = Program("dpkg-source", "dpkg-dev")
SSH = Program("ssh", "openssh-client")
SSH_KEYGEN = Program("ssh-keygen", "openssh-client")
UNSHARE = Program("unshare", "util-linux")
NEWUIDMAP = Program("newuidmap", "uidmap")
CP = Program("cp", "coreutils")
IP = Program("ip", "iproute2")
NSENTER = Program("nsenter", "util-linux")
SLIRP4NETNS = Program("slirp4netns", "slirp4netns")
GCC = Program("gcc", "gcc")
MAKE = Program("make", "make")
FLEX = Program("flex", "flex")
BISON = Program("bison", "bison")
BC = Program("bc", "bc")
XZ = Program("xz", "xz-utils")

ALWAYS = (QEMU, QEMU_IMG, MMDEBSTRAP, MKFS, TAR, APT_GET, DPKG_DEB, SSH, SSH_KEYGEN)
USER_MODE_LINUX = (IP, NSENTER, UNSHARE, SLIRP4NETNS, GCC, MAKE, FLEX, BISON, BC, XZ)
WITHOUT_ROOT = (UNSHARE, NEWUIDMAP)


def find(program: Program) -> str:
    """The path of a program, '' when it is not installed."""
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *_SYSTEM])
    return shutil.which(program.name, path=program.directory or path) or ""


def need(program: Program) -> str:
    """The path of a program; UnavailableError names the package when it is missing."""
    path = find(program)
    if not path:
        where = f" in {program.directory}" if program.directory else ""
        raise UnavailableError(f"{program.name} is not installed{where}: apt-get install {program.package}")
    return path


def missing() -> list[str]:
    """Debian packages to install before the lab can build and boot, sorted."""
    programs = ALWAYS + USER_MODE_LINUX + (() if os.geteuid() == 0 else WITHOUT_ROOT)
    packages: dict[str, bool] = {program.package: True for program in programs if not find(program)}
    return sorted(packages)
