# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A copy of the checkout, also with the steps of a walkthrough applied."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.volcano.colocation.tests.support import walkthroughs
from ansible_collections.volcano.colocation.tests.support.checkout import CHECKOUT, sources

PACKAGE = "ansible_collections.volcano.colocation"
COUNTED = "docs/design.md"
"""Its figures count the lines of the plugins, so any edit may change them."""


@dataclass(frozen=True)
class CheckoutCopy:
    """``root`` is the copy. ``collections`` is a directory that has the copy under the collection's name.

    ``by_hand``: files that the walkthrough edits. ``changed``: all files that differ from the checkout at the end.
    """

    root: Path
    collections: Path
    by_hand: frozenset[str]
    changed: frozenset[str] = frozenset()

    def python(self, *arguments: str) -> str:
        """Return the output of a Python process that imports the copy."""
        # Without the settings of the pytest that runs this test, and of its coverage.
        kept_env = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV", "PYTHON"))
        }
        collections, home = str(self.collections), str(self.root.parent / "home")
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.root,
            env={**kept_env, "PYTHONPATH": collections, "ANSIBLE_COLLECTIONS_PATH": collections, "ANSIBLE_HOME": home},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def proof(self, program: str) -> Any:
        """Return the JSON that a program prints; ``PACKAGE`` in it is replaced by the name of the collection."""
        return json.loads(self.python("-c", program.replace("PACKAGE", PACKAGE)))

    def tests(self, *names: str) -> str:
        """Run these tests of the copy, which must all pass, and return the output of pytest."""
        printed = self.python("-m", "pytest", "-q", "-p", "no:cacheprovider", *names)
        assert " passed" in printed
        return printed


def copy_checkout(directory: Path) -> tuple[Path, Path]:
    """Copy the files that git tracks or would; the copy, and a directory that has it under the collection's name."""
    root, collections = directory / "checkout", directory / "collections"
    for path in sources():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(CHECKOUT / path, root / path, follow_symlinks=False)
    link = collections / "ansible_collections" / "volcano" / "colocation"
    link.parent.mkdir(parents=True)
    link.symlink_to(root)
    return root, collections


@contextmanager
def followed(heading: str, directory: Path) -> Iterator[CheckoutCopy]:
    """Yield a copy with the edits below a heading of the page, after `make docs`."""
    root, collections = copy_checkout(directory)
    before = _contents(root)
    edits = walkthroughs.edits(walkthroughs.PAGE.read_text(encoding="utf-8"), heading)
    for edit in edits:
        walkthroughs.apply(edit, root)
    edited = CheckoutCopy(root, collections, frozenset(edit.file for edit in edits))
    edited.python("-m", f"{PACKAGE}.tests.run.pages")
    try:
        yield CheckoutCopy(root, collections, edited.by_hand, frozenset(_differing(before, _contents(root))))
    finally:
        shutil.rmtree(root)


def _contents(root: Path) -> dict[str, bytes]:
    """Return all files by name, without compiled Python and without the page that counts the other files."""
    files = (path for path in root.rglob("*") if path.is_file() and path.suffix != ".pyc")
    contents = {path.relative_to(root).as_posix(): path.read_bytes() for path in files}
    return {name: content for name, content in contents.items() if name != COUNTED}


def _differing(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> set[str]:
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
