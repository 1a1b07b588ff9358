# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The text that names the survivors."""

from __future__ import annotations

from ansible_collections.volcano.colocation.tests.tools.mutation.report import Group, lines
from ansible_collections.volcano.colocation.tests.tools.mutation.sample import Mutant, Mutation
from ansible_collections.volcano.colocation.tests.tools.mutation.trial import Outcome, Verdict


def pair(line: int, outcome: Outcome) -> tuple[Mutant, Verdict]:
    original = "a = 1\nb = 2\nc = 3\n"
    changed = original.splitlines()
    changed[line - 1] += "0"
    mutant = Mutant(Mutation("plugins/x.py", "core/NumberReplacer", 0, line, 4), original, "\n".join(changed) + "\n")
    return mutant, Verdict(outcome, "", {}, 2.4)


def test_survivors_are_named_with_file_line_and_change() -> None:
    group = Group("plugins", (pair(3, Outcome.UNTESTED), pair(2, Outcome.KILLED), pair(1, Outcome.SURVIVED)))
    assert list(lines([group], 90)) == [
        "plugins/x.py:1: NumberReplacer: survived (2 s)",
        "    -a = 1",
        "    +a = 10",
        "",
        "plugins/x.py:3: NumberReplacer: no test runs it (2 s)",
        "    -c = 3",
        "    +c = 30",
        "",
        "plugins: 1 of 3 mutants found, 33.3 %, at least 90 % expected",
        "  found: 1",
        "  survived: 1",
        "  no test runs it: 1",
    ]


def test_an_endless_mutant_is_found() -> None:
    group = Group("plugins", (pair(1, Outcome.ENDLESS), pair(2, Outcome.UNFINISHED)))
    assert group.percentage == 50


def test_an_empty_sample_shows_nothing() -> None:
    assert Group("plugins", ()).percentage == 0
