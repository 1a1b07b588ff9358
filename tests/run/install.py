# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the collection and installs it from its tarball into .cache/collections, as a user has it.

What is installed is replaced only where it differs: another stage may be at work with it.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path

from .places import CACHE, CHECKOUT, INSTALLED, tool_environment

DIST = CACHE / "dist"
FILES = "FILES.json"


def main() -> int:
    environment = tool_environment(os.environ)
    with (CACHE / "install.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        tarball = build(CHECKOUT, DIST, environment)
        if not is_installed(tarball, INSTALLED):
            install(tarball, INSTALLED, environment)
    return 0


def is_installed(tarball: Path, folder: Path) -> bool:
    """Whether the collection there is this one, by the list of all its files and their hashes."""
    listed = folder / "ansible_collections" / "volcano" / "colocation" / FILES
    with tarfile.open(tarball) as archive:
        wanted = archive.extractfile(FILES)
        return wanted is not None and listed.is_file() and listed.read_bytes() == wanted.read()


def build(checkout: Path, folder: Path, environment: Mapping[str, str]) -> Path:
    """Make the tarball, the only one in ``folder``."""
    shutil.rmtree(folder, ignore_errors=True)
    _galaxy(["build", "--output-path", str(folder), str(checkout)], environment)
    (tarball,) = folder.glob("volcano-colocation-*.tar.gz")
    return tarball


def install(tarball: Path, folder: Path, environment: Mapping[str, str]) -> None:
    """Install into ``folder``, from which the collection is removed before."""
    shutil.rmtree(folder / "ansible_collections" / "volcano" / "colocation", ignore_errors=True)
    _galaxy(["install", "--offline", "--force", "--collections-path", str(folder), str(tarball)], environment)


def _galaxy(arguments: list[str], environment: Mapping[str, str]) -> None:
    subprocess.run(["ansible-galaxy", "collection", *arguments], env=environment, stdin=subprocess.DEVNULL, check=True)


if __name__ == "__main__":
    sys.exit(main())
