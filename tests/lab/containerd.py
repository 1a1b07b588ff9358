# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A containerd that replaces Debian's on a node, and its default configuration."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from . import command, programs
from .cache import Cache, digest, sha256
from .errors import LabError
from .program_table import CONTAINERD, of_release
from .spec import DEBIAN_CONTAINERD, is_path

_SANDBOX = re.compile(r"""^\s*sandbox(?:_image)?\s*=\s*["']([^"'\s]+:[^"'\s]+)["']\s*$""", re.MULTILINE)
"""``sandbox_image`` of the CRI plugin up to 1.7, ``sandbox`` of its pinned images since 2.0."""


@dataclass(frozen=True)
class Containerd:
    """The directory with the programs, their digest and release, and the text of ``containerd config default``."""

    directory: Path
    digest: str
    release: str
    config: str

    @property
    def paths(self) -> tuple[Path, ...]:
        return tuple(self.directory / name for name in CONTAINERD)

    @property
    def sandbox_images(self) -> tuple[str, ...]:
        """The images of pod sandboxes."""
        return tuple(sorted(set(_SANDBOX.findall(self.config))))


def obtain_containerd(cache: Cache, choice: str) -> Containerd | None:
    """The containerd of ``choice``: a directory, a release of the lab's programs (``2.4``), or '' for None."""
    if choice == DEBIAN_CONTAINERD:
        return None
    if is_path(choice):
        return describe(Path(choice).resolve())
    family = of_release("containerd", choice)
    return describe(programs.obtain(cache, family.name, CONTAINERD).path(CONTAINERD[0]).parent)


def describe(directory: Path) -> Containerd:
    """The containerd in a directory; LabError when a program is missing or does not run."""
    paths = [directory / name for name in CONTAINERD]
    missing = [path.name for path in paths if not os.access(path, os.X_OK) or path.is_dir()]
    if missing:
        raise LabError(
            f"{directory} has no program {', '.join(missing)}: --containerd takes a directory with all three"
        )
    program = str(paths[0])
    output = command.output([program, "--version"])
    match = re.search(r"\bv?(\d+\.\d+\.\d+\S*)", output)
    if not match:
        raise LabError(f"{program} --version prints {output.strip()!r}, which is not the version of a containerd")
    config = command.output([program, "config", "default"])
    if not _SANDBOX.search(config):
        raise LabError(f"{program} config default names no sandbox image: the lab does not support this containerd")
    return Containerd(directory, digest("".join(map(sha256, paths)).encode()), match.group(1), config)
