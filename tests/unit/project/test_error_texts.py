# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""No message has an exception's own text: [Errno 2], KeyError: 'x', <object at 0x7f00>, (char 0).

An exception of this project may be quoted, because its text is written for people. Any other one needs words.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

COLLECTION = Path(__file__).parents[3]
FILES = sorted((COLLECTION / "plugins").rglob("*.py"))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def own_exceptions() -> set[str]:
    """The names of all exception classes that the plugins define."""
    names = {"Exception", "ValueError"}
    classes = [node for path in FILES for node in ast.walk(tree(path)) if isinstance(node, ast.ClassDef)]
    for _depth in range(4):
        names |= {node.name for node in classes if {getattr(base, "id", "") for base in node.bases} & names}
    return names - {"Exception", "ValueError"}


def quoted(handler: ast.ExceptHandler) -> Iterator[int]:
    """The lines of a handler in which str(error), {error} or "%s" % error makes a text; a comparison makes none."""
    body = list(ast.walk(ast.Module(handler.body, [])))
    compared = {part for node in body if isinstance(node, ast.Compare) for part in ast.walk(node)}
    for node in set(body) - compared:
        value = None
        if isinstance(node, ast.FormattedValue):
            value = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("str", "repr"):
            value = node.args[0] if node.args else None
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            value = node.right
        if isinstance(value, ast.Name) and value.id == handler.name:
            yield int(getattr(node, "lineno", 0))


def caught(handler: ast.ExceptHandler) -> set[str]:
    """The names of the exceptions of a handler."""
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return {getattr(kind, "id", getattr(kind, "attr", "")) for kind in kinds if kind is not None}


def foreign_texts() -> Iterator[str]:
    known = own_exceptions()
    for path in FILES:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ExceptHandler) and node.name and not caught(node) <= known:
                for line in quoted(node):
                    yield f"{path.relative_to(COLLECTION)}:{line}: {', '.join(sorted(caught(node) - known))}"


def test_there_are_exceptions_of_this_project() -> None:
    assert {"ColocationError", "ProfileError", "ParseError"} <= own_exceptions()


def test_no_text_of_another_exception_is_in_a_message() -> None:
    assert list(foreign_texts()) == []
