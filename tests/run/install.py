# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the collection and installs it from its tarball into .cache/collections, as a user does.

An installed collection is replaced only if it differs, because another stage may use it.
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


def is_installed(tarball: Path, directory: Path) -> bool:
    """Whether the installed collection is this one, by the list of all files and their hashes."""
    installed_list = directory / "ansible_collections" / "volcano" / "colocation" / FILES
    with tarfile.open(tarball) as archive:
        built_list = archive.extractfile(FILES)
        return built_list is not None and installed_list.is_file() and installed_list.read_bytes() == built_list.read()


def build(checkout: Path, directory: Path, environment: Mapping[str, str]) -> Path:
    """Build the tarball, the only one in ``directory``."""
    shutil.rmtree(directory, ignore_errors=True)
    _galaxy(["build", "--output-path", str(directory), str(checkout)], environment)
    (tarball,) = directory.glob("volcano-colocation-*.tar.gz")
    return tarball


def install(tarball: Path, directory: Path, environment: Mapping[str, str]) -> None:
    """Install into ``directory``; an existing installation is removed first."""
    shutil.rmtree(directory / "ansible_collections" / "volcano" / "colocation", ignore_errors=True)
    _galaxy(["install", "--offline", "--force", "--collections-path", str(directory), str(tarball)], environment)


def _galaxy(arguments: list[str], environment: Mapping[str, str]) -> None:
    subprocess.run(["ansible-galaxy", "collection", *arguments], env=environment, stdin=subprocess.DEVNULL, check=True)


if __name__ == "__main__":
    sys.exit(main())
