# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws mutants: one at each place of the code, in an order that depends on a seed and not on edits elsewhere."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from .equivalence import is_noticeable

EQUIVALENT = re.compile(r"ReplaceComparisonOperator_(Is_Eq|Eq_Is|IsNot_NotEq|NotEq_IsNot)$")
"""Operators without an effect: equal members of an Enum and equal interned strings are the same object."""


@dataclass(frozen=True)
class Mutation:
    """A change that cosmic-ray can make: the ``occurrence``-th position of its ``operator`` in the file."""

    path: str
    operator: str
    occurrence: int
    line: int
    column: int

    @property
    def family(self) -> str:
        """The operator without its values, so that +, which has 11 mutants, has the same weight as a number."""
        return self.operator.rpartition("/")[2].partition("_")[0]


@dataclass(frozen=True)
class Mutant:
    """A file with a text that is changed at one place."""

    mutation: Mutation
    original: str
    mutated: str

    @property
    def key(self) -> str:
        """A digest that does not depend on the path of the file."""
        return _digest(self.original, self.mutated)


Apply = Callable[[Mutation, str], str | None]
"""(mutation, text of its file) -> the changed text, None if nothing changes."""


def draw(
    mutations: Iterable[Mutation], sources: Mapping[str, str], seed: int, apply: Apply, count: int
) -> list[Mutant]:
    """At most ``count`` mutants that a test can notice; ``sources`` has the text of each file by its path."""
    candidates = (_first_noticeable(place, sources, apply) for place in _places(mutations, sources, seed))
    return list(itertools.islice((mutant for mutant in candidates if mutant), count))


def _first_noticeable(place: list[Mutation], sources: Mapping[str, str], apply: Apply) -> Mutant | None:
    for mutation in place:
        original = sources[mutation.path]
        mutated = apply(mutation, original)
        if mutated is not None and is_noticeable(original, mutated):
            return Mutant(mutation, original, mutated)
    return None


def _places(mutations: Iterable[Mutation], sources: Mapping[str, str], seed: int) -> Iterator[list[Mutation]]:
    """The mutations of each place; places and mutations are in the order of the sample.

    The order depends on the name of the file, the text of the line and the operator. The sample remains the same if the
    file is moved, or lines are inserted before.
    """
    groups: dict[tuple[str, int, int, str], list[Mutation]] = {}
    for mutation in mutations:
        if not EQUIVALENT.search(mutation.operator):
            place = (mutation.path, mutation.line, mutation.column, mutation.family)
            groups.setdefault(place, []).append(mutation)
    lines = {path: source.splitlines() for path, source in sources.items()}
    ranks: dict[str, list[Mutation]] = {}
    counts: Counter[str] = Counter()
    for (path, line, column, family), group in sorted(groups.items()):
        identity = _digest(str(seed), PurePosixPath(path).name, lines[path][line - 1].strip(), str(column), family)
        counts[identity] += 1
        rank = _digest(identity, str(counts[identity]))
        ranks[rank] = _shuffled(group, rank)
    yield from (ranks[rank] for rank in sorted(ranks))


def _shuffled(group: list[Mutation], rank: str) -> list[Mutation]:
    ordered = sorted(group, key=lambda mutation: (mutation.operator, mutation.occurrence))
    numbered = {_digest(rank, str(number)): mutation for number, mutation in enumerate(ordered)}
    return [numbered[key] for key in sorted(numbered)]


def _digest(*parts: str) -> str:
    return hashlib.sha256("".join(f"{len(part)}:{part}" for part in parts).encode()).hexdigest()[:16]
