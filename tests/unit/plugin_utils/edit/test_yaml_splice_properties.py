# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Any generated YAML document and any change: only the change is made."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.document_changes import REMOVE, Path
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.readers import read_yaml
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.yaml_splice import edit_yaml
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
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.edit.yaml_documents import (
    ITEMS,
    SIMPLE,
    WORDS,
    documents,
)

RELAXED = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
NEW_VALUES = st.one_of(SIMPLE, st.lists(ITEMS, max_size=3))


def yaml_1_2(text: str) -> Any:
    """The values that a parser of the other YAML version reads."""
    return YAML(typ="safe", pure=True).load(text.removeprefix("\ufeff")) or {}


@st.composite
def documents_and_changes(draw: Any) -> tuple[Document, dict[Path, Any]]:
    document = draw(documents())
    existing = leaves(document.values)
    changes: dict[Path, Any] = {}
    for _key in range(draw(st.integers(1, 4))):
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
    assert read_yaml(before) == document.values

    after = edit_yaml(before, changes)

    expected, pruned = changed(document.values, changes)
    assert settled(read_yaml(after), pruned) == comparable(expected)
    end = document.end if document.end in before else "\n"
    assert in_order(unrelated(document.lines, changes, pruned), after, end)
    assert after.startswith("\ufeff") == before.startswith("\ufeff")
    if end == "\r\n":
        assert after.count("\n") == after.count("\r\n")
    assert edit_yaml(after, changes) is after


@RELAXED
@given(documents_and_changes())
def test_yaml_1_2_reads_the_same_change(case: tuple[Document, dict[Path, Any]]) -> None:
    document, changes = case
    before, after = (yaml_1_2(text) for text in (document.text, edit_yaml(document.text, changes)))
    expected, pruned = changed(before, changes)
    assert settled(after, pruned) == comparable(expected)
