# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The statement of a line."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.tests.tools.mutation.statements import Statement, find

SOURCE = """\
TABLE = {
    1: 2,
}

@decorated(
    3,
)
def function(
    default=4,
):
    try:
        if (
            5
        ):
            return [
                6
            ]
        else:
            return 7
    except ValueError:
        match default:
            case 8 if (
                9
            ):
                pass

class Thing:
    field = 10
"""


def line_of(text: str) -> int:
    (number,) = (number for number, line in enumerate(SOURCE.splitlines(), 1) if line.strip().startswith(text))
    return number


@pytest.mark.parametrize(
    ("text", "first", "last", "at_import"),
    [
        ("1: 2", "TABLE", "}", True),
        ("3,", "@decorated", "):", True),
        ("default=4", "@decorated", "):", True),
        ("try:", "try:", "try:", False),
        ("except", "except", "except", False),
        ("return 7", "return 7", "return 7", False),
        ("match", "match", "match", False),
        ("pass", "pass", "pass", False),
        ("class", "class", "class", True),
        ("field", "field", "field", True),
    ],
)
def test_a_statement_has_the_lines_before_its_body(text: str, first: str, last: str, at_import: bool) -> None:
    ends = [number for number, line in enumerate(SOURCE.splitlines(), 1) if line.strip().startswith(last)]
    statement = find(SOURCE, line_of(text))
    assert (statement.first, statement.at_import) == (line_of(first), at_import)
    assert statement.last == min(end for end in ends if end >= line_of(text))


@pytest.mark.parametrize(("text", "before", "after"), [("5", 1, 1), ("6", 1, 1), ("9", 1, 1)])
def test_a_line_belongs_to_the_innermost_statement_around_it(text: str, before: int, after: int) -> None:
    line = line_of(text)
    assert find(SOURCE, line) == Statement(line - before, line + after, at_import=False)


def test_a_line_outside_of_all_statements_stands_alone() -> None:
    assert find(SOURCE, 4) == Statement(4, 4, at_import=True)
    assert list(find(SOURCE, 4).lines) == [4]
