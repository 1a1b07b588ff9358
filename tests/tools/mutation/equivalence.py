# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds changes of a source text that no unit test can notice."""

from __future__ import annotations

import ast
import warnings
from typing import Any

DECLARATIONS = frozenset({"abstractmethod", "cache", "final", "lru_cache", "overload", "override", "runtime_checkable"})
"""Decorators for type checkers, and those that only save time."""

GUARDS = frozenset({"TYPE_CHECKING", "__name__"})
"""Names in the condition of code that only type checkers read, or that runs only as a program."""

CHECKED_BY_TYPES = frozenset({"frozen", "slots"})
"""Arguments of `dataclass` whose violations mypy reports."""


def is_noticeable(original: str, mutated: str) -> bool:
    """Whether the change compiles and affects more than annotations, docstrings and other declarations."""
    try:
        return code(original) != code(mutated)
    except (SyntaxError, ValueError):
        return False


def code(source: str) -> str:
    """The syntax tree without declarations; SyntaxError or ValueError if Python does not compile the source."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        compile(source, "mutant", "exec", dont_inherit=True)
    return ast.dump(_WithoutDeclarations().visit(ast.parse(source)))


class _WithoutDeclarations(ast.NodeTransformer):
    """Removes declarations; ast.NodeVisitor calls each ``visit_…`` for the class of nodes in its name."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._definition(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._definition(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self._definition(node)

    def _definition(self, node: Any) -> ast.AST:
        node.decorator_list = [decorator for decorator in node.decorator_list if _name(decorator) not in DECLARATIONS]
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Call) and _name(decorator) == "dataclass":
                decorator.keywords = [word for word in decorator.keywords if word.arg not in CHECKED_BY_TYPES]
        node.returns = None
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Constant(None)
        return self.generic_visit(node)

    def visit_If(self, node: ast.If) -> ast.AST | None:
        names = {part.id for part in ast.walk(node.test) if isinstance(part, ast.Name)}
        return None if names & GUARDS else self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        """Remove docstrings, which are statements with only a constant."""
        return None if isinstance(node.value, ast.Constant) else self.generic_visit(node)


def _name(decorator: ast.expr) -> str:
    """The last part of a decorator's name, such as `lru_cache` for `functools.lru_cache(maxsize=1)`."""
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
