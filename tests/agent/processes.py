# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The process of an agent as the node's /proc shows it, in the files of its machine.

User, capabilities, environment and what the process sees are those of the real process. Only its cgroup, which has the
container's id, is what the runtime would choose.
"""

from __future__ import annotations

import shutil
from pathlib import Path

COPIED = ("comm", "status", "environ")
SYS_FS = "SYS_FS_PATH="


def show(machine: Path, pid: int, cgroup: str) -> None:
    """Write the machine's /proc/PID of a running process; ``cgroup`` is its cgroup."""
    real, mirrored = Path("/proc") / str(pid), machine / "proc" / str(pid)
    mirrored.mkdir(parents=True, exist_ok=True)
    for name in COPIED:
        (mirrored / name).write_bytes((real / name).read_bytes())
    (mirrored / "cgroup").write_text(f"0::/{cgroup}\n")
    variables = (mirrored / "environ").read_bytes().decode().split("\0")
    sys_fs = next(word.removeprefix(SYS_FS) for word in variables if word.startswith(SYS_FS)).lstrip("/")
    hierarchies = real / "root" / sys_fs / "cgroup"
    for directory in (hierarchies, hierarchies / "cpu"):
        for child in directory.iterdir() if directory.is_dir() else ():
            if child.is_dir():
                (mirrored / "root" / sys_fs / "cgroup" / child.relative_to(hierarchies)).mkdir(
                    parents=True, exist_ok=True
                )


def forget(machine: Path, pid: int) -> None:
    """Remove a process that has ended."""
    shutil.rmtree(machine / "proc" / str(pid), ignore_errors=True)
