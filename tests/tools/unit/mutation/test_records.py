# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records of the lines that tests run."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.tools.mutation.observation import digest, observe
from ansible_collections.volcano.colocation.tests.tools.mutation.records import Record, candidates, read
from ansible_collections.volcano.colocation.tests.tools.mutation.statements import Statement, find
from ansible_collections.volcano.colocation.tests.tools.unit.mutation import small_checkout
from ansible_collections.volcano.colocation.tests.tools.unit.mutation.small_checkout import CLOSE, FAR, FILES, SMALL

ALL = {"test_small[1]", "test_small[2]", "test_large", "test_double", "test_waits", "test_child"}
"""Tests of the first file, without the one that fails."""


@pytest.fixture(scope="module", name="checkout")
def _checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_checkout.make(tmp_path_factory.mktemp("checkout"))


def observed(checkout: Path, file: str) -> Record | None:
    sandbox = small_checkout.unsafe(checkout)
    return observe(functools.partial(digest, checkout), checkout / ".cache", file, sandbox)


@pytest.fixture(scope="module", name="close")
def _close(checkout: Path) -> Record:
    record = observed(checkout, CLOSE)
    assert record
    return record


@pytest.fixture(scope="module", name="far")
def _far(checkout: Path) -> Record:
    record = observed(checkout, FAR)
    assert record
    return record


def statement(text: str) -> Statement:
    source = FILES[SMALL]
    (line,) = (number for number, line in enumerate(source.splitlines(), 1) if line.strip() == text)
    return find(source, line)


def running(record: Record, text: str) -> set[str]:
    """Names of the tests of a file that run the statement."""
    candidate = record.running(SMALL, statement(text))
    dropped = candidate.dropped if candidate else tuple(record.observed.tests)
    return {name.partition("::")[2] for name in record.observed.tests if name not in dropped}


def test_a_statement_is_run_by_some_tests(close: Record) -> None:
    assert running(close, "return number < LIMIT") == {"test_small[1]", "test_small[2]", "test_large"}
    assert running(close, "number = number - 1") == {"test_waits"}
    assert running(close, "return number + 1") == set()


def test_lines_of_a_child_process_count_for_all_tests_of_the_file(close: Record) -> None:
    assert running(close, "return number + number") == ALL


def test_lines_of_an_import_count_for_all_tests_of_the_file(close: Record, far: Record) -> None:
    assert running(close, "LIMIT = 3") == ALL
    assert running(far, "LIMIT = 3") == {"test_limit"}
    assert running(far, "return number < LIMIT") == set()


def test_a_test_that_fails_unmutated_finds_nothing(close: Record) -> None:
    assert close.failed == [f"{CLOSE}::test_broken"]


def test_tests_that_run_the_mutated_file_come_first(close: Record, far: Record) -> None:
    chosen = candidates([far, close], SMALL, statement("LIMIT = 3"))
    assert [(candidate.file, candidate.close) for candidate in chosen] == [(CLOSE, True), (FAR, False)]
    assert chosen[0].cpu >= close.observed.overhead > 0
    assert chosen[0].wall > 0


def test_a_record_is_kept_while_the_inputs_of_the_tests_are_the_same(
    checkout: Path, close: Record, far: Record
) -> None:
    assert {"data.txt", SMALL, CLOSE, "tests/unit/conftest.py"} <= close.observed.inputs.keys()
    assert not any(name.startswith(".cache") for name in close.observed.inputs)
    assert "data.txt" not in far.observed.inputs
    assert observed(checkout, CLOSE) == close
    (checkout / "data.txt").write_text("other\n")
    assert observed(checkout, FAR) == far
    again = observed(checkout, CLOSE)
    assert again
    assert (again.digest == close.digest, again.running(SMALL, statement("LIMIT = 3")) is None) == (False, False)


def test_tests_that_cannot_be_run_have_no_record(checkout: Path) -> None:
    assert observed(checkout, "tests/unit/test_missing.py") is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"unknown": 1}'])
def test_an_unreadable_file_is_not_a_record(tmp_path: Path, text: str) -> None:
    (tmp_path / "record").write_text(text)
    assert read(CLOSE, tmp_path / "record") is None
