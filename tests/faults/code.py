# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The code of the collection that a result depends on: that of the transaction of provision."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from pathlib import Path

PROGRAMS = ("plugins/action/node_align.py", "plugins/modules/node_snapshot.py", "plugins/modules/node_transaction.py")
"""What a run starts from; what they import belongs to it, and what that imports."""

DATA = ("roles/node", "playbooks/provision.yml")


def code_digest(checkout: Path) -> str:
    """Return a short hash of the current code."""
    digest = hashlib.sha256()
    for path in sorted({*_imported(checkout), *_data(checkout)}):
        digest.update(str(path.relative_to(checkout)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def _data(checkout: Path) -> Iterator[Path]:
    for top in (checkout / name for name in DATA):
        yield from (path for path in (top, *top.rglob("*")) if path.is_file())


def _imported(checkout: Path) -> set[Path]:
    """The programs and every file of the collection that they load."""
    known: set[Path] = set()
    pending = [checkout / name for name in PROGRAMS]
    while pending:
        path = pending.pop()
        if path not in known:
            known.add(path)
            pending += _imports(path)
    return known


def _imports(path: Path) -> Iterator[Path]:
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.level:
            package = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            for module in (package, *(package / alias.name for alias in node.names)):
                files = (module.with_suffix(".py"), module / "__init__.py")
                yield from (file for file in files if file.is_file())
