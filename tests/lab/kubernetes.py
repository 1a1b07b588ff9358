# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kubelet of a node and the process that keeps a pod's sandbox."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from . import command, debian_kubelet, programs
from .cache import Cache, Recipe, sha256
from .errors import LabError, prefixed
from .golang import GoTool, find_go, in_use, to_text
from .golang import obtain as obtain_go
from .paths import GUEST
from .program_table import KUBELET, of_release
from .progress import Progress
from .spec import DEBIAN_KUBELET, NO_KUBELET, is_path

_PAUSE_GO = (1, 19, 0)
_PAUSE_FLAGS = "-s -w"


@dataclass(frozen=True)
class Kubelet:
    """A kubelet binary on the host, its SHA-256, and its version."""

    path: Path
    digest: str
    release: str
    version: tuple[int, int]


def obtain_kubelet(cache: Cache, choice: str) -> Kubelet | None:
    """The kubelet of ``choice``: a path, a release of the lab's programs (``1.35``), ``debian`` or ``none``."""
    if choice == NO_KUBELET:
        return None
    if is_path(choice):
        path = Path(choice).resolve()
        if not path.is_file():
            raise LabError(f"no kubelet at {path}")
        return _describe(path)
    if choice == DEBIAN_KUBELET:
        return _describe(debian_kubelet.obtain(cache))
    family = of_release("kubernetes", choice)
    return _describe(programs.obtain(cache, family.name, (KUBELET,)).path(KUBELET))


def obtain_pause(cache: Cache) -> bytes:
    """The static program that keeps a pod's sandbox."""
    source = GUEST / "pause.go"
    go = find_go(_PAUSE_GO)

    def build(directory: Path, log: Path) -> None:
        with in_use(cache):
            tool = GoTool(cache, obtain_go(cache, go), directory, log)
            tool.build([str(source)], directory / "pause", _PAUSE_FLAGS)

    try:
        return (cache.obtain(pause_recipe(), build, Progress("pause")) / "pause").read_bytes()
    except LabError as error:
        raise prefixed("the program of pod sandboxes (tests/lab/guest/pause.go)", error) from error


def pause_recipe() -> Recipe:
    """The inputs of the sandbox's program."""
    return Recipe("pause", "pause", ((GUEST / "pause.go").read_text(), to_text(find_go(_PAUSE_GO).release)))


def _describe(path: Path) -> Kubelet:
    if not os.access(path, os.X_OK):
        raise LabError(f"{path} is not executable")
    output = command.output([str(path), "--version"])
    match = re.search(r"v((\d+)\.(\d+)\S*)", output)
    if not match:
        raise LabError(f"{path} --version prints {output.strip()!r}, which is not the version of a kubelet")
    version: tuple[int, int] = (int(match.group(2)), int(match.group(3)))
    return Kubelet(path, sha256(path), match.group(1), version)
