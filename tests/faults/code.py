# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which code of the collection a result depends on: what provision's transaction consists of, and nothing else."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from pathlib import Path

PROGRAMS = ("plugins/action/node_align.py", "plugins/modules/node_snapshot.py", "plugins/modules/node_transaction.py")
"""What a run starts from; what they import belongs to it, and what that imports."""

DATA = ("roles/node", "playbooks/provision.yml")


def code_digest(checkout: Path) -> str:
    """A short name of that code as it is now."""
    found = hashlib.sha256()
    for path in sorted({*_imported(checkout), *_data(checkout)}):
        found.update(str(path.relative_to(checkout)).encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()[:12]


def _data(checkout: Path) -> Iterator[Path]:
    for top in (checkout / name for name in DATA):
        yield from (path for path in (top, *top.rglob("*")) if path.is_file())


def _imported(checkout: Path) -> set[Path]:
    """The programs and every file of the collection that they load."""
    known: set[Path] = set()
    left = [checkout / name for name in PROGRAMS]
    while left:
        path = left.pop()
        if path not in known:
            known.add(path)
            left += _imports(path)
    return known


def _imports(path: Path) -> Iterator[Path]:
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.level:
            package = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            for each in (package, *(package / alias.name for alias in node.names)):
                files = (each.with_suffix(".py"), each / "__init__.py")
                yield from (found for found in files if found.is_file())
