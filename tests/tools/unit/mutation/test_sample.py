# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The drawn sample of mutants."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.tests.tools.mutation.sample import Mutant, Mutation, draw

SOURCE = "".join(f"x{number} = {number} + {number}\n" for number in range(40))
PATH = "plugins/one.py"
SIGNS = {"Sub": "-", "Mul": "*", "Div": "/", "Same": "+", "Wrong": ")"}


def replace(mutation: Mutation, source: str) -> str | None:
    """Replaces the sign with that of the operator."""
    lines = source.splitlines(keepends=True)
    lines[mutation.line - 1] = lines[mutation.line - 1].replace("+", SIGNS[mutation.operator.rpartition("_")[2]])
    return "".join(lines)


def mutations(path: str = PATH, after: int = 0, names: tuple[str, ...] = ("Sub", "Mul", "Div")) -> list[Mutation]:
    return [
        Mutation(path, f"core/Replace_{name}", number, number + 1 + after, 5) for number in range(40) for name in names
    ]


def changes(mutants: list[Mutant]) -> list[str]:
    changed = [set(mutant.mutated.splitlines()) - set(mutant.original.splitlines()) for mutant in mutants]
    return [line for lines in changed for line in lines]


def test_each_place_gives_one_mutant() -> None:
    mutants = draw(mutations(), {PATH: SOURCE}, 1, replace, 1000)
    assert len(mutants) == 40
    assert len({mutant.mutation.line for mutant in mutants}) == 40
    assert len({mutant.mutation.operator for mutant in mutants}) == 3
    assert len({mutant.key for mutant in mutants}) == 40


def test_a_sample_is_part_of_a_larger_one() -> None:
    few, many = (draw(mutations(), {PATH: SOURCE}, 1, replace, count) for count in (5, 20))
    assert many[:5] == few
    assert [mutant.mutation.line for mutant in many] != sorted(mutant.mutation.line for mutant in many)


def test_another_seed_draws_others() -> None:
    one, other = (changes(draw(mutations(), {PATH: SOURCE}, seed, replace, 10)) for seed in (1, 2))
    assert one != other


def test_the_sample_stays_where_files_move_and_grow() -> None:
    """The sample is the same with inserted lines, further occurrences in them, and another directory."""
    one = draw(mutations(), {PATH: SOURCE}, 1, replace, 10)
    moved = "plugins/deep/one.py"
    later = [
        Mutation(moved, mutation.operator, mutation.occurrence + 7, mutation.line, mutation.column)
        for mutation in mutations(moved, after=2)
    ]
    assert changes(draw(later, {moved: f"import a\nimport b\n{SOURCE}"}, 1, replace, 10)) == changes(one)


def test_equal_lines_are_different_places() -> None:
    source = "x = 1 + 1\n" * 3
    places = [Mutation(PATH, "core/Replace_Sub", line - 1, line, 6) for line in (1, 2, 3)]
    assert {mutant.mutation.line for mutant in draw(places, {PATH: source}, 1, replace, 10)} == {1, 2, 3}


def test_an_unnoticeable_mutant_gives_its_place_to_the_next() -> None:
    """None means that the tool changes nothing; a wrong text does not compile."""

    def apply(mutation: Mutation, source: str) -> str | None:
        return None if mutation.operator.endswith("Div") else replace(mutation, source)

    mutants = draw(mutations(names=("Same", "Wrong", "Div", "Sub")), {PATH: SOURCE}, 1, apply, 1000)
    assert {mutant.mutation.operator for mutant in mutants} == {"core/Replace_Sub"}
    assert len(mutants) == 40


@pytest.mark.parametrize("kind", ["Is_Eq", "Eq_Is", "IsNot_NotEq", "NotEq_IsNot"])
def test_identity_of_equal_values_is_not_mutated(kind: str) -> None:
    mutation = Mutation(PATH, f"core/ReplaceComparisonOperator_{kind}", 0, 1, 5)
    assert draw([mutation], {PATH: SOURCE}, 1, lambda *_: "x = 1", 1) == []


def test_the_family_of_an_operator_is_its_name_without_values() -> None:
    names = ["core/ReplaceBinaryOperator_Add_Sub", "core/AddNot"]
    assert [Mutation(PATH, name, 0, 1, 0).family for name in names] == ["ReplaceBinaryOperator", "AddNot"]
