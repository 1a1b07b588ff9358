# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Any generated JSON document and any change: only the change is made, checked with Python's own parser."""

from __future__ import annotations

import json
from difflib import SequenceMatcher
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.document_changes import REMOVE, Path
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.json_splice import edit_json
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.json_syntax import read_json
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.edit.json_documents import (
    KEY_NAMES,
    NEW_VALUES,
    Written,
    written,
)
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.edit.oracle import (
    changed,
    comparable,
    leaves,
    mappings,
    possible,
    settled,
)

RELAXED = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def parsed(text: str) -> Any:
    return json.loads(text.removeprefix("\ufeff"))


@st.composite
def documents_and_changes(draw: Any) -> tuple[Written, dict[Path, Any]]:
    document = draw(written())
    existing = leaves(document.values)
    changes: dict[Path, Any] = {}
    for _key in range(draw(st.integers(1, 4))):
        if existing and draw(st.booleans()):
            path = draw(st.sampled_from(existing))
            desired = draw(st.one_of(NEW_VALUES, st.just(REMOVE)))
        else:
            path = (
                *draw(st.sampled_from(mappings(document.values))),
                *draw(st.lists(KEY_NAMES, min_size=1, max_size=2)),
            )
            desired = draw(NEW_VALUES)
        if possible(document.values, changes, path, desired):
            changes[path] = desired
    return document, changes


@RELAXED
@given(documents_and_changes())
def test_an_edit_makes_the_change_and_nothing_else(case: tuple[Written, dict[Path, Any]]) -> None:
    document, changes = case
    assert comparable(read_json(document.text)) == comparable(document.values)

    after = edit_json(document.text, changes)

    expected, pruned = changed(document.values, changes)
    assert settled(parsed(after), pruned) == comparable(expected)
    assert after.startswith("\ufeff") == document.text.startswith("\ufeff")
    behind = document.text[document.text.rindex("}") :]
    assert after.endswith(behind)
    assert edit_json(after, changes) is after


@RELAXED
@given(written(), st.data())
def test_a_changed_value_is_all_that_changes(document: Written, data: st.DataObject) -> None:
    scalars = [path for path in leaves(document.values) if possible(document.values, {}, path, 1)]
    if not scalars:
        return
    path = data.draw(st.sampled_from(scalars))
    after = edit_json(document.text, {path: "@@@"})
    begin, _value, end = after.partition('"@@@"')
    assert document.text.startswith(begin)
    assert document.text.endswith(end)
    assert len(document.text) > len(begin) + len(end)


@RELAXED
@given(written(), st.data())
def test_removing_an_added_member_restores_the_text(document: Written, data: st.DataObject) -> None:
    outer = data.draw(st.sampled_from(mappings(document.values)))
    path = (*outer, *data.draw(st.lists(KEY_NAMES.map("new {}".format), min_size=1, max_size=3)))
    after = edit_json(document.text, {path: data.draw(NEW_VALUES)})
    removed = edit_json(after, {path: REMOVE})
    if document.values:
        assert removed == document.text
    else:
        assert parsed(removed) == {}
    inserted = [
        opcode
        for opcode in SequenceMatcher(None, document.text, after, autojunk=False).get_opcodes()
        if opcode[0] != "equal"
    ]
    assert not document.values or {opcode[0] for opcode in inserted} == {"insert"}
