# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tests in the README exist, and the README has all kinds of nodes that are tested."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_tests_that_it_names_exist() -> None:
    named = re.findall(r"`((?:tests|molecule)/[\w./-]+)`", README)
    assert len(named) > 10
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_each_kind_of_node_that_is_booted_is_named() -> None:
    kinds = [path.name for path in (ROOT / "tests/system/kinds").glob("test_*.py")]
    assert len(kinds) > 5
    assert [name for name in kinds if f"tests/system/kinds/{name}" not in README] == []
    scenarios = [path.parent.name for path in (ROOT / "molecule").glob("*/molecule.yml")]
    assert [name for name in scenarios if f"`{name}`" not in README and f"molecule/{name}`" not in README] == []
