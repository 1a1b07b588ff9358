# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the statement of a line; a change in one of its lines has an effect where any of them runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Statement:
    """Lines of a statement, or those before the body of a compound one. ``at_import``: outside all functions."""

    first: int
    last: int
    at_import: bool

    @property
    def lines(self) -> range:
        return range(self.first, self.last + 1)


def find(source: str, line: int) -> Statement:
    """The innermost statement with that line, or the line alone if no statement has it."""
    around = [statement for statement in _statements(ast.parse(source), at_import=True) if line in statement.lines]
    return min(around, key=lambda statement: len(statement.lines), default=Statement(line, line, at_import=True))


def _statements(node: ast.AST, at_import: bool) -> Iterator[Statement]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case)):
            first = _first(child)
            yield Statement(first, max(first, _last(child)), at_import)
        is_function = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef))
        yield from _statements(child, at_import and not is_function)


def _first(node: Any) -> int:
    if isinstance(node, ast.match_case):
        return node.pattern.lineno
    return min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])


def _last(node: Any) -> int:
    body = getattr(node, "body", None) or getattr(node, "cases", None)
    return _first(body[0]) - 1 if body else int(node.end_lineno)
