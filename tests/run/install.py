# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the collection and installs it from its tarball into .cache/collections, as a user has it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from .places import CACHE, CHECKOUT, INSTALLED, tool_environment

DIST = CACHE / "dist"


def main() -> int:
    environment = tool_environment(os.environ)
    install(build(CHECKOUT, DIST, environment), INSTALLED, environment)
    return 0


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
