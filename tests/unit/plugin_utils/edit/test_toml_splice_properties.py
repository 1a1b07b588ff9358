# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Any generated TOML document and any change: only the change is made."""

from __future__ import annotations

from typing import Any

import tomlkit
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.document_changes import REMOVE, Path
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.readers import read_toml
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.toml_splice import edit_toml
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.edit.oracle import (
    Document,
    changed,
    comparable,
    in_order,
    leaves,
    mappings,
    possible,
    settled,
    unrelated,
)
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.edit.toml_documents import (
    ITEMS,
    SIMPLE,
    WORDS,
    documents,
)

RELAXED = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
NEW_VALUES = st.one_of(SIMPLE, st.lists(ITEMS, max_size=3))


@st.composite
def documents_and_changes(draw: Any) -> tuple[Document, dict[Path, Any]]:
    document = draw(documents())
    existing = leaves(document.values)
    changes: dict[Path, Any] = {}
    for _table in range(draw(st.integers(1, 4))):
        if existing and draw(st.booleans()):
            path = draw(st.sampled_from(existing))
            desired = draw(st.one_of(NEW_VALUES, st.just(REMOVE)))
        else:
            path = (*draw(st.sampled_from(mappings(document.values))), *draw(st.lists(WORDS, min_size=1, max_size=2)))
            desired = draw(NEW_VALUES)
        if possible(document.values, changes, path, desired):
            changes[path] = desired
    return document, changes


@RELAXED
@given(documents_and_changes())
def test_an_edit_makes_the_change_and_nothing_else(case: tuple[Document, dict[Path, Any]]) -> None:
    document, changes = case
    before = document.text
    assert read_toml(before) == document.values

    after = edit_toml(before, changes)

    expected, pruned = changed(document.values, changes)
    end = document.end if document.end in before else "\n"
    assert settled(read_toml(after), pruned) == comparable(expected)
    assert in_order(unrelated(document.lines, changes, pruned), after, end)
    assert after.startswith("\ufeff") == before.startswith("\ufeff")
    if end == "\r\n":
        assert after.count("\n") == after.count("\r\n")
    assert edit_toml(after, changes) is after


@RELAXED
@given(documents_and_changes())
def test_another_toml_library_reads_the_same_change(case: tuple[Document, dict[Path, Any]]) -> None:
    document, changes = case
    after = edit_toml(document.text, changes)
    read = tomlkit.parse(after.removeprefix("\ufeff").replace("\r\n", "\n")).unwrap()
    expected, pruned = changed(document.values, changes)
    assert settled(read, pruned) == comparable(expected)
