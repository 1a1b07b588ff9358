# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The process that makes mutants, with a fake cosmic-ray: the real one has another virtual environment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.tools.mutation import cosmic
from ansible_collections.volcano.colocation.tests.tools.mutation.sample import Mutation
from ansible_collections.volcano.colocation.tests.tools.mutation.sandbox import PROGRAMS

PACKAGE = {
    "__init__.py": "",
    "ast.py": "def get_ast(source):\n    return source\n\ndef ast_nodes(tree):\n    return tree.split()\n",
    "plugins.py": """class Operator:
    def __init__(self, old):
        self.old = old

    def __call__(self):
        return self

    def arguments(self):
        return ("needed",) if self.old == "?" else ()

    def mutation_positions(self, node):
        if node == self.old:
            yield (1, 2), (1, 3)

def operator_names():
    return ("core/x", "core/?", "core/y")

def get_operator(name):
    return Operator(name[-1])
""",
    "mutating.py": """def mutate_code(source, operator, occurrence):
    parts = source.split(operator.old)
    if occurrence + 1 >= len(parts):
        return None
    return operator.old.join(parts[: occurrence + 1]) + "-" + operator.old.join(parts[occurrence + 1 :])
""",
}


@pytest.fixture(name="python")
def _python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in PACKAGE.items():
        path = tmp_path / "cosmic_ray" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    return PROGRAMS / "python"


def test_mutations_of_a_source_are_listed_by_operator(python: Path) -> None:
    """Mutations of operators that need arguments are not listed."""
    with cosmic.start(python) as tool:
        assert tool.mutations("a.py", "x y x ?") == [
            Mutation("a.py", "core/x", 0, 1, 2),
            Mutation("a.py", "core/x", 1, 1, 2),
            Mutation("a.py", "core/y", 0, 1, 2),
        ]


@pytest.mark.parametrize(("occurrence", "mutated"), [(0, "- y x"), (1, "x y -"), (2, None)])
def test_a_mutation_is_made(python: Path, occurrence: int, mutated: str | None) -> None:
    with cosmic.start(python) as tool:
        assert tool.apply(Mutation("a.py", "core/x", occurrence, 1, 2), "x y x") == mutated


def test_lines_and_letters_pass_unchanged(python: Path) -> None:
    with cosmic.start(python) as tool:
        assert tool.apply(Mutation("a.py", "core/x", 0, 1, 2), "ä\n\tx\r\n") == "ä\n\t-\r\n"


def test_a_process_that_ends_is_an_error(python: Path, tmp_path: Path) -> None:
    (tmp_path / "cosmic_ray" / "ast.py").write_text("import sys\nsys.exit('no parser')\n")
    with cosmic.start(python) as tool, pytest.raises(cosmic.CosmicError, match=r"operators\.py ended"):
        tool.mutations("a.py", "x")
