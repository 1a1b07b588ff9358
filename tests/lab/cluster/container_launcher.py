# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Becomes the process of a container: mounts, root directory, user and capabilities as in the JSON on standard input.

A separate program, run with root's rights: ``container_launcher.py < CONTAINER.json``. Only the standard library.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from pathlib import Path
from typing import Any

CLONE_NEWNS, MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 0x20000, 1, 32, 4096, 16384, 1 << 18
PR_CAPBSET_DROP = 24
LAST_CAPABILITY = Path("/proc/sys/kernel/cap_last_cap")
CAPABILITIES = {"CHOWN": 0, "DAC_OVERRIDE": 1, "FOWNER": 3, "SETGID": 6, "SETUID": 7, "SETFCAP": 31, "BPF": 39}
"""Numbers of the capabilities that manifests of the collection name: linux/capability.h."""

libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    container = json.load(sys.stdin)
    root, last = container["root"], int(LAST_CAPABILITY.read_text())
    _check(libc.unshare(CLONE_NEWNS))
    _mount("none", "/", "", MS_REC | MS_PRIVATE)
    _mount("none", root, "tmpfs", 0)
    for mount in container["mounts"]:
        _bind(mount, root)
    for path, text in container["files"].items():
        target = Path(root + path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    os.chroot(root)
    os.chdir("/")
    added = [CAPABILITIES[name] for name in container["capabilities"]]
    _become(container["user"], [number for number in range(last + 1) if number not in added])
    os.execve(container["argv"][0], container["argv"], container["environment"])


def _bind(mount: dict[str, Any], root: str) -> None:
    source, target = Path(mount["source"]), Path(root + mount["target"])
    if source.is_dir():
        target.mkdir(parents=True, exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    _mount(str(source), str(target), "", MS_BIND | MS_REC)
    if mount["read_only"]:
        _mount("none", str(target), "", MS_REMOUNT | MS_BIND | MS_RDONLY)


def _become(user: int, dropped: list[int]) -> None:
    """Drop capabilities from the bounding set, and change to the user."""
    for capability in dropped:
        _check(libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0))
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)


def _mount(source: str, target: str, kind: str, flags: int) -> None:
    _check(libc.mount(source.encode(), target.encode(), kind.encode() or None, flags, None), target)


def _check(result: int, path: str = "") -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), path)


if __name__ == "__main__":
    main()
