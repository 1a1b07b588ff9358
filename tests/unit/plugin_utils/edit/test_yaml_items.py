# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Items of nested lists: what changes, what stays byte for byte, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.readers import read_yaml
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.text_errors import EditError, UnsupportedEdit
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.yaml_items import (
    insert_item,
    move_item,
    remove_item,
    render_path,
    set_in_item,
)

TEXT = """\
# who: Ada
top: 1   # kept
tiers:
- plugins:
  # gang first?
  - name: gang     # all or nothing
    # deeper
  - name: priority
    args:
      a: 'x'
- plugins:
    - {name: drf}
    - name: last
"""
LIST: tuple[str | int, ...] = ("tiers", 0, "plugins")


def test_a_mapping_in_a_list_gets_a_key_behind_its_last() -> None:
    after = set_in_item(TEXT, (*LIST, 0), {("ok",): False})
    assert after == TEXT.replace("    # deeper\n", "    ok: false\n    # deeper\n")


def test_a_mapping_in_braces_gets_one_too() -> None:
    after = set_in_item(TEXT, ("tiers", 1, "plugins", 0), {("ok",): False})
    assert after == TEXT.replace("{name: drf}", "{name: drf, ok: false}")


def test_desired_values_stay() -> None:
    assert set_in_item(TEXT, (*LIST, 1), {("args", "a"): "x"}) is TEXT


def test_a_moved_item_takes_its_comments_along() -> None:
    after = move_item(TEXT, (*LIST, 0), (*LIST, 1))
    assert after == TEXT
    after = move_item(TEXT, (*LIST, 1), (*LIST, 0))
    assert after == (
        "# who: Ada\ntop: 1   # kept\ntiers:\n- plugins:\n"
        "  - name: priority\n    args:\n      a: 'x'\n"
        "  # gang first?\n  - name: gang     # all or nothing\n    # deeper\n"
        "- plugins:\n    - {name: drf}\n    - name: last\n"
    )


@pytest.mark.parametrize(
    ("place", "before"), [(0, "  # gang first?\n"), (1, "  - name: priority\n"), (2, "- plugins:\n    -")]
)
def test_a_new_item_is_indented_as_its_neighbours(place: int, before: str) -> None:
    after = insert_item(TEXT, LIST, place, {"name": "usage", "args": {"cpu": 60}})
    new = "  - name: usage\n    args:\n      cpu: 60\n"
    assert after == TEXT.replace(before, new + before, 1)


def test_line_ends_and_a_missing_last_one_stay() -> None:
    text = TEXT.replace("\n", "\r\n").removesuffix("\r\n")
    after = insert_item(text, ("tiers", 1, "plugins"), 2, {"name": "new"})
    assert after == text + "\r\n    - name: new"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tiers:\n- plugins: [{name: a}]\n", "not a list with a line for each item"),
        ("tiers:\n- plugins: []\n", "not a list with a line for each item"),
        ("tiers:\n- plugins: &x\n  - name: a\n", "anchor, alias or tag"),
        ("tiers:\n- plugins:\n  -\n    name: a\n", "does not follow its own dash"),
        ("tiers: 5\n", "it has no tiers[0].plugins"),
        ("", "no document"),
    ],
)
def test_an_unsupported_list_is_refused(text: str, message: str) -> None:
    with pytest.raises(EditError) as error:
        insert_item(text, LIST, 0, {"name": "b"})
    assert message in str(error.value)


def test_an_item_is_not_moved_into_another_indentation() -> None:
    with pytest.raises(UnsupportedEdit):
        move_item(TEXT, ("tiers", 1, "plugins", 1), (*LIST, 0))


def test_places_are_shown_as_paths() -> None:
    assert render_path((*LIST, 2, "name")) == "tiers[0].plugins[2].name"


def test_a_removed_item_takes_its_comments_with_it() -> None:
    after = remove_item(TEXT, (*LIST, 0))
    assert after == TEXT.replace("  # gang first?\n  - name: gang     # all or nothing\n    # deeper\n", "")
    assert remove_item(TEXT, ("tiers", 1, "plugins", 1)) == TEXT.replace("    - name: last\n", "")
    with pytest.raises(UnsupportedEdit, match="the only one of its list"):
        remove_item(after, (*LIST, 0))


names = st.text("abcdef", min_size=1, max_size=4)


@given(st.lists(names, min_size=1, max_size=5), st.integers(0, 4), st.integers(0, 4), names)
def test_any_insertion_and_move_reads_as_the_list_operation(items: list[str], one: int, two: int, new: str) -> None:
    one, two = one % len(items), two % len(items)
    text = "top: 1\nlist:\n" + "".join(f"# {name}\n- name: {name} # c\n" for name in items)
    read: Any = read_yaml(insert_item(text, ("list",), one, {"name": new}))["list"]
    expected = [{"name": name} for name in items]
    expected.insert(one, {"name": new})
    assert read == expected
    if len(items) > 1 and one != two:
        moved = move_item(text, ("list", one), ("list", two))
        value = items[one]
        remaining = items[:one] + items[one + 1 :]
        remaining.insert(two - (one < two), value)
        assert [item["name"] for item in read_yaml(moved)["list"]] == remaining
        removed: Any = read_yaml(remove_item(text, ("list", one)))["list"]
        assert [item["name"] for item in removed] == items[:one] + items[one + 1 :]
        assert sorted(moved.splitlines()) == sorted(text.splitlines())
