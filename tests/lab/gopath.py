# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Go programs, built in folders that are gone afterwards; what Go compiled stays for the next program."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from . import command
from .cache import Cache
from .requirements import GO, need

SHARED = "-trimpath"
"""Without it a compiled package is known by its folder, and kubelet and control plane, of one source, share none."""


class Workshop:
    """A GOPATH inside an unfinished entry of the cache."""

    def __init__(self, cache: Cache, entry: Path, log: Path) -> None:
        self.program = need(GO)
        self.folder = entry / "go"
        self.log = log
        self.environment: dict[str, str] = {
            # A program built with SHARED does not know where Go's own sources are, and a generator reads them.
            "GOROOT": command.output([self.program, "env", "GOROOT"]).strip(),
            "GOPATH": str(self.folder / "path"),
            "GOCACHE": str(cache.scratch("go-build")),
            "GO111MODULE": "off",
            "GOFLAGS": "",
            "CGO_ENABLED": "0",
        }

    def __enter__(self) -> Workshop:
        self.folder.mkdir()
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def build(self, arguments: Sequence[str], tree: Path) -> None:
        """``go build`` with these arguments, run in ``tree``."""
        self.run([self.program, "build", SHARED, *arguments], tree)

    def run(self, argv: Sequence[str], tree: Path) -> None:
        """A program that finds packages of Go: PWD tells it the folder as GOPATH names it."""
        command.logged(argv, self.log, cwd=tree, env={**self.environment, "PWD": str(tree)})
