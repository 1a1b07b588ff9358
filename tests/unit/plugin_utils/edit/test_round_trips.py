# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings added to any generated document can be removed again, and so can items of lists."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.document_changes import (
    REMOVE,
    AppendItem,
    Path,
    RemoveItem,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.readers import read_toml, read_yaml
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.toml_splice import edit_toml
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.yaml_splice import edit_yaml
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.edit import toml_documents, yaml_documents
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.edit.oracle import (
    Document,
    changed,
    comparable,
    in_order,
    leaves,
    mappings,
    settled,
    unrelated,
)

RELAXED = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)


@dataclass(frozen=True)
class Language:
    """How documents of a language are generated, edited and read."""

    documents: st.SearchStrategy[Document]
    keys: st.SearchStrategy[str]
    items: st.SearchStrategy[Any]
    edit: Callable[[str, Any], str]
    read: Callable[[str], dict[str, Any]]

    def without_what_was_set(self, text: str, changes: dict[Path, Any]) -> str:
        return self.edit(self.edit(text, changes), dict.fromkeys(changes, REMOVE))


YAML = Language(yaml_documents.documents(), yaml_documents.KEYS, yaml_documents.ITEMS, edit_yaml, read_yaml)
TOML = Language(toml_documents.documents(), toml_documents.KEYS, toml_documents.ITEMS, edit_toml, read_toml)
BOTH_LANGUAGES = pytest.mark.parametrize("language", [YAML, TOML], ids=["yaml", "toml"])


@BOTH_LANGUAGES
@RELAXED
@given(data=st.data())
def test_removing_what_was_set_restores_the_text(language: Language, data: st.DataObject) -> None:
    document = data.draw(language.documents)
    home = data.draw(st.sampled_from(mappings(document.values)))
    known = _at(document.values, home)
    names = data.draw(st.lists(language.keys.filter(lambda key: key not in known), min_size=1, max_size=3, unique=True))
    below = data.draw(st.lists(toml_documents.WORDS, max_size=2))
    values = st.one_of(language.items.filter(lambda item: not isinstance(item, dict)), st.lists(language.items))
    changes: dict[Path, Any] = {(*home, name, *below): data.draw(values) for name in names}
    assert language.without_what_was_set(document.text, changes) == document.text


@BOTH_LANGUAGES
@RELAXED
@given(data=st.data())
def test_only_the_settings_of_an_empty_table_are_removed(language: Language, data: st.DataObject) -> None:
    """The origin of an empty table is unknown: its header may be deleted together with the settings written into it."""
    document = data.draw(language.documents)
    home = data.draw(_sampled(_paths(document, lambda value: value in ({}, None))))
    change = {(*home, data.draw(language.keys)): data.draw(language.items.filter(lambda item: item != {}))}
    assume(not any(isinstance(value, dict) for value in change.values()))

    after = language.without_what_was_set(document.text, change)

    around = [home[:length] for length in range(1, len(home) + 1)]
    assert settled(language.read(after), around) == settled(document.values, around)
    remaining = [line for line, owner in document.lines if line.strip() and home[: len(owner)] != owner]
    assert in_order(remaining, after, _line_end(document))


@BOTH_LANGUAGES
@RELAXED
@given(data=st.data())
def test_an_item_is_added_and_removed(language: Language, data: st.DataObject) -> None:
    document = data.draw(language.documents)
    path = data.draw(_sampled(_paths(document, _is_list)))
    values = _at(document.values, path)
    item = data.draw(language.items.filter(lambda item: comparable(item) not in comparable(values)))

    longer = language.edit(document.text, {path: AppendItem(item)})

    assert comparable(language.read(longer)) == comparable(changed(document.values, {path: [*values, item]})[0])
    assert in_order(unrelated(document.lines, {path: item}, set()), longer, _line_end(document))
    assert language.edit(longer, {path: AppendItem(item)}) is longer
    assert language.edit(longer, {path: RemoveItem(item)}) == document.text


@BOTH_LANGUAGES
@RELAXED
@given(data=st.data())
def test_an_item_is_removed_and_the_others_stay(language: Language, data: st.DataObject) -> None:
    document = data.draw(language.documents)
    path = data.draw(_sampled(_paths(document, lambda value: _is_list(value) and value)))
    values = _at(document.values, path)
    item = data.draw(st.sampled_from(values))
    remaining = [value for value in values if comparable(value) != comparable(item)]
    assume(len(remaining) == len(values) - 1)

    shorter = language.edit(document.text, {path: RemoveItem(item)})

    assert comparable(language.read(shorter)) == comparable(changed(document.values, {path: remaining})[0])
    assert in_order(unrelated(document.lines, {path: item}, set()), shorter, _line_end(document))
    assert language.edit(shorter, {path: RemoveItem(item)}) is shorter


def _paths(document: Document, desired: Callable[[Any], Any]) -> list[Path]:
    return [path for path in leaves(document.values) if desired(_at(document.values, path))]


def _sampled(paths: list[Path]) -> st.SearchStrategy[Path]:
    assume(paths)
    return st.sampled_from(paths)


def _at(values: Any, path: Path) -> Any:
    for key in path:
        values = values[key]
    return values


def _is_list(value: Any) -> bool:
    """Whether a value is a list, also an empty one; not an array of tables, which is edited by hand."""
    return isinstance(value, list) and not any(isinstance(item, dict) for item in value)


def _line_end(document: Document) -> str:
    return document.end if document.end in document.text else "\n"
