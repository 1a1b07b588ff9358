# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report: the number of mutants that the tests found, and the survivors with file, line and change."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .sample import Mutant
from .trial import Outcome, Verdict


@dataclass(frozen=True)
class Group:
    """A sample of one part of the code, with a verdict on each mutant."""

    path: str
    mutants: tuple[tuple[Mutant, Verdict], ...]

    @property
    def killed(self) -> int:
        return sum(verdict.outcome.is_found for _mutant, verdict in self.mutants)

    @property
    def percentage(self) -> float:
        return 100 * self.killed / len(self.mutants) if self.mutants else 0.0

    def summary(self, minimum: float) -> str:
        count = f"{self.killed} of {len(self.mutants)} mutants found"
        return f"{self.path}: {count}, {self.percentage:.1f} %, at least {minimum:g} % expected"


def lines(groups: Sequence[Group], minimum: float) -> Iterator[str]:
    """The survivors of each group, then the counts."""
    for group in groups:
        yield from (text for mutant, verdict in _survivors(group) for text in _survivor(mutant, verdict))
    for group in groups:
        yield group.summary(minimum)
        counts = Counter(verdict.outcome for _mutant, verdict in group.mutants)
        yield from (f"  {outcome.value}: {counts[outcome]}" for outcome in Outcome if counts[outcome])


def _survivors(group: Group) -> list[tuple[Mutant, Verdict]]:
    survivors = [(mutant, verdict) for mutant, verdict in group.mutants if not verdict.outcome.is_found]
    return sorted(survivors, key=lambda pair: (pair[0].mutation.path, pair[0].mutation.line))


def _survivor(mutant: Mutant, verdict: Verdict) -> Iterator[str]:
    yield line(mutant, verdict)
    yield from (f"    {text}" for text in change(mutant))
    yield ""


def line(mutant: Mutant, verdict: Verdict) -> str:
    """File, line, operator and outcome of a mutant."""
    mutation = mutant.mutation
    operator = mutation.operator.rpartition("/")[2]
    return f"{mutation.path}:{mutation.line}: {operator}: {verdict.outcome.value} ({verdict.seconds:.0f} s)"


def change(mutant: Mutant) -> list[str]:
    """The lines before and after, as a diff without context."""
    original, mutated = mutant.original.splitlines(), mutant.mutated.splitlines()
    diff = difflib.unified_diff(original, mutated, lineterm="", n=0)
    return [text for text in diff if not text.startswith(("---", "+++", "@@"))]
