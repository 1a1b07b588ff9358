# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of a plan document that lists the programs that validate the new files, and their input."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from .document_reader import Section, encode_content, invalid_field, require_match

CANDIDATE = re.compile(r"[0-9A-Za-z_-][0-9A-Za-z_.-]*\Z")


@dataclass(frozen=True)
class Expectation:
    """A value that the dump of a candidate must show."""

    table: tuple[str, ...]
    key: str
    value: str


@dataclass(frozen=True)
class Candidate:
    """A private copy with the content ``text``; if None, the planned content of ``path``, else its current one."""

    name: str
    path: str
    text: bytes | None = field(repr=False, compare=False)


@dataclass(frozen=True)
class Comparison:
    """The program's output for the new file must equal that for the current file, except these settings and tables."""

    settings: tuple[str, ...]
    tables: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Validation:
    """A program that validates the new ``file``, with its ``candidates``, before any service is stopped."""

    name: str
    argv: tuple[str, ...]
    file: str
    expect: tuple[Expectation, ...]
    candidates: tuple[Candidate, ...] = ()
    compare: Comparison | None = None


def read_validation(section: Section) -> Validation:
    """Parse an entry of ``validate``."""
    expect = tuple(_expectation(entry) for entry in section.sections("expect"))
    argv = section.texts("argv")
    if not argv:
        raise invalid_field(section.at("argv"), "a program and its arguments")
    validation = Validation(
        section.text("name"),
        argv,
        section.path("file"),
        expect,
        tuple(_candidate(entry) for entry in section.sections("candidates")),
        _comparison(section.section("compare")),
    )
    section.finish()
    return validation


def _candidate(section: Section) -> Candidate:
    name = require_match(section.text("name"), CANDIDATE, section.at("name"), "a plain file name")
    text = section.value("text")
    candidate = Candidate(
        name, section.path("path"), None if text is None else encode_content(text, section.at("text"))
    )
    section.finish()
    return candidate


def _comparison(section: Section | None) -> Comparison | None:
    if section is None:
        return None
    tables = section.value("except_tables") or []
    if not isinstance(tables, list) or not all(isinstance(table, list) for table in tables):
        raise invalid_field(section.at("except_tables"), "a list of lists of strings")
    if not all(isinstance(part, str) for table in tables for part in table):
        raise invalid_field(section.at("except_tables"), "a list of lists of strings")
    comparison = Comparison(section.texts("except"), tuple(tuple(table) for table in tables))
    section.finish()
    return comparison


def _expectation(section: Section) -> Expectation:
    expectation = Expectation(section.texts("table"), section.text("key"), section.text("value"))
    section.finish()
    return expectation


def without_texts(entry: dict[str, Any]) -> dict[str, Any]:
    """An entry of ``validate`` without the texts of its candidates, for the journal."""
    candidates = [{**candidate, "text": None} for candidate in entry.get("candidates") or []]
    return {**entry, "candidates": candidates} if candidates else entry
