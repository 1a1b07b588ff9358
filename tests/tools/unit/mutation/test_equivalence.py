# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes that no test can notice are not mutants."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.tests.tools.mutation.equivalence import is_noticeable

EQUIVALENT = [
    ("def f(a: int | None) -> None: ...", "def f(a: int + None) -> None: ..."),
    ("def f() -> int | str: ...", "def f() -> int & str: ..."),
    ("async def f() -> int | str: ...", "async def f() -> int & str: ..."),
    ("x: list[int | str] = []", "x: list[int / str] = []"),
    ("@dataclass(frozen=True)\nclass C: ...", "@dataclass(frozen=False)\nclass C: ..."),
    ("@functools.lru_cache(maxsize=1)\ndef f(): ...", "@functools.lru_cache(maxsize=2)\ndef f(): ..."),
    ("@overload\ndef f(): ...", "def f(): ..."),
    ("if TYPE_CHECKING:\n    x = 1", "if not TYPE_CHECKING:\n    x = 1"),
    ("if __name__ == '__main__':\n    x = 1", "if __name__ != '__main__':\n    x = 1"),
    ("def f():\n    'one'\n    return 1", "def f():\n    'two'\n    return 1"),
]

NOTICEABLE = [
    ("x = 1", "x = 2"),
    ("def f(a=1): ...", "def f(a=2): ..."),
    ("x: int = 1", "x: int = 2"),
    ("@property\ndef f(self): ...", "def f(self): ..."),
    ("@dataclass(order=True)\nclass C: ...", "@dataclass(order=False)\nclass C: ..."),
    ("if a == b:\n    x = 1", "if a != b:\n    x = 1"),
    ("print('one' % 1)", "print('one' * 1)"),
]


@pytest.mark.parametrize(("original", "mutated"), EQUIVALENT)
def test_declarations_are_for_type_checkers(original: str, mutated: str) -> None:
    assert not is_noticeable(original, mutated)


@pytest.mark.parametrize(("original", "mutated"), NOTICEABLE)
def test_code_is_for_tests(original: str, mutated: str) -> None:
    assert is_noticeable(original, mutated)


@pytest.mark.parametrize("mutated", ["def f(a, +, b): ...", "x = {//a}", "break", "x = '\0'"])
def test_code_that_does_not_compile_is_not_a_mutant(mutated: str) -> None:
    assert not is_noticeable("x = 1", mutated)


@pytest.mark.filterwarnings("error")
def test_warnings_of_the_compiler_are_not_shown() -> None:
    assert is_noticeable("x = a == 1", "x = a is 1")
