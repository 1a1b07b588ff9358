# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A list with other items keeps the comments of the items that stay, move or change."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.list_match import match_items
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.readers import read_toml, read_yaml
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.text_errors import UnsupportedEdit
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.toml_splice import edit_toml
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.yaml_splice import edit_yaml

LEVELS = "# levels\na:  # site\n# the pods\n- pods   # always\n# the system\n- system  # slice\n# end\nx: 1\n"
MEMORY = """a:
  # node 0
  - numaNode: 0  # first
    limits:
      memory: 1Gi # much
  # node 1
  - numaNode: 1
    limits: {memory: 1Gi} # b
"""
LINES = 'a = [\n  "x", # one\n  # above\n  "y" # two\n]\n'

YAML: dict[str, tuple[str, list[Any], str]] = {
    "the last item changes": (
        LEVELS,
        ["pods", "kube"],
        "# levels\na:  # site\n# the pods\n- pods   # always\n# the system\n- kube  # slice\n# end\nx: 1\n",
    ),
    "an item is added in front": (
        LEVELS,
        ["kube", "pods", "system"],
        "# levels\na:  # site\n# the pods\n- kube\n- pods   # always\n# the system\n- system  # slice\n# end\nx: 1\n",
    ),
    "two items change places": (
        LEVELS,
        ["system", "pods"],
        "# levels\na:  # site\n# the pods\n# the system\n- system  # slice\n- pods   # always\n# end\nx: 1\n",
    ),
    "an item goes": (LEVELS, ["pods"], "# levels\na:  # site\n# the pods\n- pods   # always\n# end\nx: 1\n"),
    "a value in an item changes": (
        MEMORY,
        [{"numaNode": 0, "limits": {"memory": "2Gi"}}, {"numaNode": 1, "limits": {"memory": "1Gi"}}],
        MEMORY.replace("1Gi # much", "2Gi # much"),
    ),
    "a value in braces changes": (
        MEMORY,
        [{"numaNode": 0, "limits": {"memory": "1Gi"}}, {"numaNode": 1, "limits": {"memory": "3Gi"}}],
        MEMORY.replace("{memory: 1Gi}", "{memory: 3Gi}"),
    ),
    "only the second of two items stays, and changes": (
        MEMORY,
        [{"numaNode": 1, "limits": {"memory": "3Gi"}}],
        "a:\n  # node 0\n  # node 1\n  - numaNode: 1\n    limits: {memory: 3Gi} # b\n",
    ),
    "the key on the line of the dash changes": (
        "a:\n# one\n- k: 1 # b\n  m: 2\n",
        [{"k": 3, "m": 2}],
        "a:\n# one\n- k: 3\n  m: 2\n",
    ),
    "an entry of an item goes": ("a:\n- n: 1 # b\n  m: 2\n", [{"n": 1}], "a:\n- n: 1 # b\n"),
    "brackets on one line": ("a: [pods, system] # c\n", ["pods", "kube", "x"], "a: [pods, kube, x] # c\n"),
    "brackets on several lines": (
        "a: [\n pods, # one\n system # two\n]\n",
        ["pods", "kube"],
        "a: [\n pods, # one\n kube # two\n]\n",
    ),
    "an item with an anchor is written again": ("a:\n- &x pods\n- b # c\n", ["pods", "d"], "a:\n- pods\n- d # c\n"),
}

TOML: dict[str, tuple[str, list[Any], str]] = {
    "the last item changes": (LINES, ["x", "z"], 'a = [\n  "x", # one\n  # above\n  "z" # two\n]\n'),
    "an item is added behind": (
        LINES,
        ["x", "y", "z"],
        'a = [\n  "x", # one\n  # above\n  "y", # two\n  "z"\n]\n',
    ),
    "two items change places": (LINES, ["y", "x"], 'a = [\n  # above\n  "y", # two\n  "x" # one\n]\n'),
    "the first item goes": (LINES, ["y"], 'a = [\n  # above\n  "y" # two\n]\n'),
    "a comma behind the last item stays": (
        'a = [\n"x",\n"y", # b\n]\n',
        ["z", "q", "y"],
        'a = [\n"z",\n"q",\n"y", # b\n]\n',
    ),
    "one line": ("a = ['x','y'] # c\n", ["y", "z", "q"], "a = ['y','z','q'] # c\n"),
    "an empty list": ("a = [ ] # c\n", ["y", "z"], 'a = ["y", "z"] # c\n'),
    "all items go": ('a = [ "x" ] # c\n', [], "a = [] # c\n"),
    "in braces": ('b = { a = ["x", "y"], c = 1 } # d\n', ["x"], 'b = { a = ["x"], c = 1 } # d\n'),
}


@pytest.mark.parametrize("name", YAML)
def test_a_yaml_list_keeps_its_comments(name: str) -> None:
    before, items, after = YAML[name]
    assert edit_yaml(before, {("a",): items}) == after


@pytest.mark.parametrize("name", TOML)
def test_a_toml_list_keeps_its_comments(name: str) -> None:
    before, items, after = TOML[name]
    path = ("b", "a") if before.startswith("b") else ("a",)
    assert edit_toml(before, {path: items}) == after


def test_comments_that_would_be_lost_are_a_reason_to_refuse() -> None:
    text = 'a = ["x", "y", # two items on a line\n"z"]\n'
    with pytest.raises(UnsupportedEdit) as raised:
        edit_toml(text, {("a",): ["x"]})
    assert str(raised.value) == (
        "line 1: a list has comments, and several items on one line. Write each item on a separate line"
    )


ITEMS = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=6, unique=True)


def yaml_of(items: list[str]) -> str:
    return "a:\n" + "".join(f"- {item}  # of {item}\n" for item in items) + "z: 1 # end\n"


def toml_of(items: list[str]) -> str:
    return "a = [\n" + "".join(f'  "{item}", # of {item}\n' for item in items) + "] # end\n"


@settings(max_examples=150, deadline=None)
@given(ITEMS, ITEMS)
def test_an_item_that_stays_keeps_its_comment_wherever_it_goes(before: list[str], after: list[str]) -> None:
    for text, edit, read in ((yaml_of(before), edit_yaml, read_yaml), (toml_of(before), edit_toml, read_toml)):
        edited = edit(text, {("a",): after})
        assert read(edited)["a"] == after
        lines = edited.splitlines()
        for item in set(before) & set(after):
            assert any(f"# of {item}" in line and item in line.split("#")[0] for line in lines)
        assert "# end" in edited


def test_an_item_takes_over_an_old_one_only_once() -> None:
    assert match_items(["a", "a"], ["a", "a", "a"]) == [0, 1, None]
    assert match_items([{"n": 1, "m": 1}, {"n": 2, "m": 1}], [{"n": 2, "m": 5}, {"n": 1, "m": 5}]) == [1, 0]
    assert match_items(["a", "b"], ["x", "b"]) == [0, 1]
    assert match_items(["a", "b", "c"], ["a", "c", "x"]) == [0, 2, None]
    assert match_items([], ["x"]) == [None]
