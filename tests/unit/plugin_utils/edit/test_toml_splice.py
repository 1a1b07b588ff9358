# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits of TOML texts: each case has the whole text before and after."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.document_changes import (
    REMOVE,
    AppendItem,
    ItemRemoval,
    RemoveItem,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.text_errors import ParseError, UnsupportedEdit
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.toml_splice import edit_toml
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.toml_value import value_text

CASES: dict[str, tuple[str, dict[tuple[str, ...], Any], str]] = {
    "a comment behind the value stays": ("a = false  # why\nb = 1\n", {("a",): True}, "a = true  # why\nb = 1\n"),
    "a commented-out line is not a setting": (
        "# version = 2\n#version = 1\n[a]\n# x = 1\n",
        {("version",): 3, ("a", "x"): 2},
        "version = 3\n# version = 2\n#version = 1\n[a]\nx = 2\n# x = 1\n",
    ),
    "the right table of several": (
        "[a.b]\nSystemdCgroup = false\n[a.c]\nSystemdCgroup = false\n",
        {("a", "c", "SystemdCgroup"): True},
        "[a.b]\nSystemdCgroup = false\n[a.c]\nSystemdCgroup = true\n",
    ),
    "a new setting before sub-tables and trailing comments": (
        "[a]\n  x=1\n  # y=2\n\n  [a.b]\n    z=3\n",
        {("a", "k"): "v"},
        '[a]\n  x=1\n  k="v"\n  # y=2\n\n  [a.b]\n    z=3\n',
    ),
    "a setting for a table without any": (
        "[a]\n  x = 1\n\n[b] # empty\n\n[c]\n",
        {("b", "y"): 2, ("c", "z"): 3},
        "[a]\n  x = 1\n\n[b] # empty\n  y = 2\n\n[c]\n  z = 3\n",
    ),
    "a new table after the last of its closest ancestor": (
        "[p]\n\n  [p.a]\n    x = 1\n\n    [p.a.b]\n      y = 1\n\n  [p.c]\n    z = 1\n\n[q]\n",
        {("p", "a", "d", "e", "k"): 1, ("p", "f", "k"): 2},
        "[p]\n\n  [p.a]\n    x = 1\n\n    [p.a.b]\n      y = 1\n\n      [p.a.d.e]\n        k = 1\n"
        "\n  [p.c]\n    z = 1\n\n  [p.f]\n    k = 2\n\n[q]\n",
    ),
    "a new table is indented as its siblings are": (
        "[a]\n    [a.x]\n    k = 1\n\n[b]\n  [b.y]\n  k = 1\n",
        {("b", "z", "k"): 2},
        "[a]\n    [a.x]\n    k = 1\n\n[b]\n  [b.y]\n  k = 1\n\n  [b.z]\n  k = 2\n",
    ),
    "a new table at the end": ("version = 2\n", {("a", "b.c", "d"): ["x"]}, 'version = 2\n\n[a."b.c"]\nd = ["x"]\n'),
    "a new table behind the comments of the last one": (
        "[a]\nx = 1\n# y = 2\n\n# end\n",
        {("b", "z"): 1},
        "[a]\nx = 1\n# y = 2\n\n# end\n\n[b]\nz = 1\n",
    ),
    "a comment that touches the next header stays there": (
        "[a]\nx = 1\n# about b\n[b]\n",
        {("a", "c", "z"): 1},
        "[a]\nx = 1\n[a.c]\nz = 1\n# about b\n[b]\n",
    ),
    "the quotes of the neighbours": (
        "[p.'a.b']\nx = 'y'\nz = \"w\"\n",
        {("p", "c.d", "k"): "v", ("p", "a.b", "x"): "it's", ("p", "a.b", "z"): "n"},
        "[p.'a.b']\nx = \"it's\"\nz = \"n\"\n\n[p.'c.d']\nk = 'v'\n",
    ),
    "the first setting of the file": ("# licence\n\n[a]\n", {("version",): 2}, "# licence\nversion = 2\n\n[a]\n"),
    "a comment at the first header stays there": (
        "# about a\n[a]\n",
        {("version",): 2},
        "version = 2\n# about a\n[a]\n",
    ),
    "a dotted key": (
        "a.b.c = 1\na.b.d = 2 # t\nz = 1\n\n[q]\n x.y = 1\n",
        {("a", "b", "e"): 1, ("a", "f", "g"): 2, ("q", "x", "z", "k k"): 1, ("a", "b", "c"): 3},
        'a.b.c = 3\na.b.d = 2 # t\na.b.e = 1\na.f.g = 2\nz = 1\n\n[q]\n x.y = 1\n x.z."k k" = 1\n',
    ),
    "a header below a dotted key": (
        "[fruit]\napple.color = 1\n[fruit.apple.texture]\nsmooth = true\n",
        {("fruit", "apple", "texture", "x", "y"): 1, ("fruit", "apple", "size"): 2},
        "[fruit]\napple.color = 1\napple.size = 2\n[fruit.apple.texture]\nsmooth = true\n"
        "[fruit.apple.texture.x]\ny = 1\n",
    ),
    "an inline table": (
        "a = { b = 1, 'c' = {}, d = [{x = 1}] } # x\ne = {}\n",
        {("a", "b"): REMOVE, ("a", "f"): True, ("a", "c", "q", "r"): "s", ("e", "g"): 1},
        "a = { 'c' = {q = { r = \"s\" }}, d = [{x = 1}], f = true } # x\ne = {g = 1}\n",
    ),
    "a value in an inline table": (
        "a = {b = 'x', c = {d = 1}}\n",
        {("a", "b"): "y", ("a", "c", "d"): 2},
        "a = {b = 'y', c = {d = 2}}\n",
    ),
    "an emptied inline table keeps its braces": (
        "a = {b = 1, c = {d = 1}}\ne = { f = 1 } # g\nz = { }\n",
        {("a", "b"): REMOVE, ("a", "c", "d"): REMOVE, ("e", "f"): REMOVE, ("z", "y"): 1},
        "a = {}\ne = { } # g\nz = { y = 1 }\n",
    ),
    "text that looks like a header": (
        'a = """\n[b]\nc = 1\n"""\nd = [ # [x]\n "]", \'[\', # "\n "z" ]\ne = \'\'\'\n[f]\'\'\'\'\n[b]\nc = 2\n',
        {("b", "c"): 3},
        'a = """\n[b]\nc = 1\n"""\nd = [ # [x]\n "]", \'[\', # "\n "z" ]\ne = \'\'\'\n[f]\'\'\'\'\n[b]\nc = 3\n',
    ),
    "strings over several lines": (
        'a = """x\\""""\nb = \'\'\'\ny\'\'\' # c\nd = """"z""""" # e\n',
        {("a",): "1", ("b",): "2", ("d",): "3"},
        'a = "1"\nb = \'2\' # c\nd = "3" # e\n',
    ),
    "an array of tables is passed by": (
        "[p]\n[p.a]\nx = 1\n[[p.a.list]]\ny = 1\n[p.a.list.sub]\nz = 1\n[[p.a.list]]\n[q]\n",
        {("p", "a", "k"): 1, ("p", "b", "k"): 2},
        "[p]\n[p.a]\nx = 1\nk = 1\n[[p.a.list]]\ny = 1\n[p.a.list.sub]\nz = 1\n[[p.a.list]]\n[p.b]\nk = 2\n[q]\n",
    ),
    "an array of tables goes": ("a = 1\n[[b]]\nx = 1\n[b.c]\ny = 1\n[[b]]\n[d]\n", {("b",): REMOVE}, "a = 1\n[d]\n"),
    "a table goes with its blank line": (
        "[a]\nx = 1\n\n[b]\n# c\ny = 1\n# d\n\n[b.c]\nz = 1\n\n[e]\n",
        {("b",): REMOVE},
        "[a]\nx = 1\n# d\n\n[e]\n",
    ),
    "an emptied table goes, and those around it": (
        "[a]\nx = 1\n\n[b]\nz = 1\n\n[b.c.d]\ny = 1\n",
        {("b", "c", "d", "y"): REMOVE, ("b", "z"): REMOVE},
        "[a]\nx = 1\n",
    ),
    "a header that had no settings stays": (
        "[a]\nx = 1\n\n[b]\n\n[b.c]\ny = 1\n",
        {("b", "c", "y"): REMOVE},
        "[a]\nx = 1\n\n[b]\n",
    ),
    "an emptied table with a comment stays": (
        "[a] # x\nb = 1 # y\n[c]\n# d\ne = 1\n[f]\ng = 1\n# h\n\n[i]\nj = 1\n# about k\n[k]\n",
        {("a", "b"): REMOVE, ("c", "e"): REMOVE, ("f", "g"): REMOVE, ("i", "j"): REMOVE},
        "[a] # x\n[c]\n# d\n[f]\n# h\n# about k\n[k]\n",
    ),
    "a header with commented settings further down stays": (
        "[crio.nri]\nenable_nri = true\n\n# Globally enable or disable NRI.\n# enable_nri = true\n\n# x\n[a]\n",
        {("crio", "nri", "enable_nri"): REMOVE},
        "[crio.nri]\n\n# Globally enable or disable NRI.\n# enable_nri = true\n\n# x\n[a]\n",
    ),
    "a late header with a comment stays": (
        "[a.b]\ny = 1\n[a] # c\nx = 1\n",
        {("a", "x"): REMOVE},
        "[a.b]\ny = 1\n[a] # c\n",
    ),
    "a hash in a header is not a comment": ('[a]\n[ "b#c" ]\nx = 1\n', {("b#c", "x"): REMOVE}, "[a]\n"),
    "one item more": (
        'a = [\'x\'] # c\nb = []\nc = [ ]\nd = [1,2,]\ne = [ "x", "y" ]\n',
        {
            ("a",): AppendItem("y"),
            ("b",): AppendItem("x"),
            ("c",): AppendItem("x"),
            ("d",): AppendItem(3),
            ("e",): AppendItem("z"),
            ("f",): AppendItem("x"),
        },
        'a = [\'x\', \'y\'] # c\nb = ["x"]\nc = [ "x" ]\nd = [1,2,3,]\ne = [ "x", "y", "z" ]\nf = ["x"]\n',
    ),
    "one item less": (
        'a = [\'x\', \'y\'] # c\nb = ["x"]\nc = [ "x" ]\nd = [1,2,3,]\ne = [ "x", "y" ]\nf = [ \'x\', ]\n',
        {
            ("a",): RemoveItem("y"),
            ("b",): RemoveItem("x"),
            ("c",): RemoveItem("x"),
            ("d",): RemoveItem(2),
            ("e",): RemoveItem("x"),
            ("f",): RemoveItem("x"),
            ("g",): RemoveItem("x"),
        },
        "a = ['x'] # c\nb = []\nc = [ ]\nd = [1,3,]\ne = [ \"y\" ]\nf = [ ]\n",
    ),
    "one item more, in lines": (
        'a = [ # ]\n  "x", # one\n  # more\n]\nb = [\n\t"x",\n\t"y" # , two\n]\n',
        {("a",): AppendItem("y"), ("b",): AppendItem("z")},
        'a = [ # ]\n  "x", # one\n  "y",\n  # more\n]\nb = [\n\t"x",\n\t"y", # , two\n\t"z"\n]\n',
    ),
    "one item more, not quite in lines": (
        'c = [ "x",\n  "y"]\nd = [\n  # none\n]\ne = [ "x"\n]\n',
        {("c",): AppendItem("z"), ("d",): AppendItem("z"), ("e",): AppendItem("z")},
        'c = [ "x",\n  "y", "z"]\nd = [\n  # none\n  "z",\n]\ne = [ "x",\n  "z"\n]\n',
    ),
    "one item less, in lines": (
        'a = [ # ]\n  "x", # one\n  # more\n]\nb = [\n\t"x",\n\t"y" # , two\n]\nc = [ "x",\n  "y"]\n'
        'd = [ "x",\n  "y",\n]\n',
        {("a",): RemoveItem("x"), ("b",): RemoveItem("y"), ("c",): RemoveItem("y"), ("d",): RemoveItem("x")},
        'a = [ # ]\n  # more\n]\nb = [\n\t"x"\n]\nc = [ "x",\n  ]\nd = [ \n  "y",\n]\n',
    ),
    "an item of an inline table's list": (
        "a = {b = ['x'], c = 1}\n",
        {("a", "b"): AppendItem("y")},
        "a = {b = ['x', 'y'], c = 1}\n",
    ),
    "containerd's imports and disabled plugins": (
        'version = 2\nimports = ["/etc/containerd/conf.d/*.toml"] # packaged\ndisabled_plugins = ["cri"]\n\n[p]\n',
        {
            ("imports",): AppendItem("/etc/containerd/volcano.toml"),
            ("disabled_plugins",): RemoveItem("cri"),
            ("root",): "/x",
        },
        'version = 2\nimports = ["/etc/containerd/conf.d/*.toml", "/etc/containerd/volcano.toml"] # packaged\n'
        'disabled_plugins = []\nroot = "/x"\n\n[p]\n',
    ),
    "nested values": (
        "a = 1\n",
        {("b",): [1, 0.5, True, ["x"], {"c d": {}, "e": {"f": "g"}}]},
        'a = 1\nb = [1, 0.5, true, ["x"], { "c d" = {}, e = { f = "g" } }]\n',
    ),
    "a table with sub-tables keeps its header": (
        "[a]\nx = 1\n[a.b]\ny = 1\n",
        {("a", "x"): REMOVE},
        "[a]\n[a.b]\ny = 1\n",
    ),
    "a late header goes": ("[a.b]\ny = 1\n\n[a]\nx = 1\n", {("a", "x"): REMOVE}, "[a.b]\ny = 1\n"),
    "a late header with more settings stays": (
        "[a.b]\ny = 1\n[a]\nx = 1\nz = 1\n",
        {("a", "x"): REMOVE},
        "[a.b]\ny = 1\n[a]\nz = 1\n",
    ),
    "dotted settings go with their table": ("a.b = 1\na.c.d = 2\ne = 1\n", {("a",): REMOVE}, "e = 1\n"),
    "the empty file": ("", {("version",): 2}, "version = 2\n"),
    "comments only": ("# licence\n\n", {("a", "b"): 1}, "# licence\n\n[a]\nb = 1\n\n"),
    "blank lines only": ("\n", {("version",): 2}, "version = 2\n\n"),
    "no line end at the end": ("[a]\nx = 1", {("a", "y"): 2, ("b", "z"): 3}, "[a]\nx = 1\ny = 2\n\n[b]\nz = 3"),
    "CRLF and a byte order mark": (
        "\ufeff[a]\r\nx = 1\r\n",
        {("a", "y"): 2, ("b", "z"): "é"},
        '\ufeff[a]\r\nx = 1\r\ny = 2\r\n\r\n[b]\r\nz = "é"\r\n',
    ),
    "tabs": (
        "[a]\n\tx\t=\t1\n\n\t[a.b]\n\t\ty = 1\n",
        {("a", "c", "z"): 1},
        "[a]\n\tx\t=\t1\n\n\t[a.b]\n\t\ty = 1\n\n\t[a.c]\n\t\tz = 1\n",
    ),
    "dates": ("a = 1979-05-27 07:32:00 # c\nb = 1979-05-27\n", {("a",): "x", ("b",): 1.5}, 'a = "x" # c\nb = 1.5\n'),
    "keys in quotes": (
        '"a b" = 1\n\'c\' . "d\\u0041" = 2\n[ x . "y.z" ]\nw = 1\n',
        {("a b",): 2, ("c", "dA"): 3, ("x", "y.z", "w"): 4},
        '"a b" = 2\n\'c\' . "d\\u0041" = 3\n[ x . "y.z" ]\nw = 4\n',
    ),
    "the type of a value counts": ("a = 1\nb = true\n", {("a",): 1.0, ("b",): "true"}, 'a = 1.0\nb = "true"\n'),
    "headers without blank lines": (
        "[a]\n[a.b]\nx = 1\n[a.c]\ny = 1\n\n[d]\n",
        {("a", "e", "z"): 1},
        "[a]\n[a.b]\nx = 1\n[a.c]\ny = 1\n[a.e]\nz = 1\n\n[d]\n",
    ),
    "a table that sub-tables imply": (
        "[r.runc.options]\nx = 1\n\n[s]\n",
        {("r", "runc", "type"): "t"},
        '[r.runc.options]\nx = 1\n\n[r.runc]\ntype = "t"\n\n[s]\n',
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_toml_text_is_edited_once_and_a_second_edit_changes_nothing(name: str) -> None:
    before, changes, after = CASES[name]
    assert edit_toml(before, changes) == after
    assert edit_toml(after, changes) == after


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (-1, "-1"),
        (1e16, "1e+16"),
        (float("inf"), "inf"),
        ('a\nb\t\x7f\\"', '"a\\nb\\t\\u007f\\\\\\""'),
        ([], "[]"),
        (["a", "b"], '["a", "b"]'),
    ],
)
def test_values_are_written_as_toml(value: Any, text: str) -> None:
    assert value_text(value) == text


@pytest.mark.parametrize("desired", [REMOVE, AppendItem("x"), ItemRemoval((0,))])
def test_an_edit_of_a_list_is_not_a_value(desired: Any) -> None:
    with pytest.raises(TypeError):
        value_text(desired)


def test_a_text_with_all_desired_values_stays_the_same_object() -> None:
    text = "version = 2 # c\n[a]\nb.c = 'x'\n"
    assert edit_toml(text, {("version",): 2, ("a", "b", "c"): "x", ("d", "e"): REMOVE, ("a", "b", "x"): REMOVE}) is text


REFUSED: dict[str, tuple[str, dict[tuple[str, ...], Any], int, str]] = {
    "an array of tables": ("a = 1\n[[b]]\n", {("b", "c"): 1}, 2, "b is an array of tables"),
    "an array of inline tables": ("a = [{b = 1}]\n", {("a", "b"): 2}, 1, "a is not a table"),
    "a path through a value": ("x = 1\na = 1\n", {("a", "b"): 2}, 2, "a is not a table"),
    "a value for a table": ("x = 1\n[a.b]\n", {("a",): 1}, 2, "a is a table"),
    "a value for a dotted table": ("x = 1\na.b = 1\n", {("a",): 1}, 2, "a is a table"),
    "a value for an inline table": ("x = 1\na = {}\n", {("a",): 1}, 2, "a holds a table"),
    "a value for a table in an inline table": ("a = {b = {}}\n", {("a", "b"): 1}, 1, "b is a table"),
    "a path through a value in an inline table": ("a = {b = 1}\n", {("a", "b", "c"): 1}, 1, "b is not a table"),
    "a dotted key in an inline table": ("a = {b.c = 1}\n", {("a", "b", "d"): 1}, 1, "dotted key in an inline table"),
    "a dotted key in an inline table to be removed": (
        "a = {b.c = 1, d = 1}\n",
        {("a", "b"): REMOVE},
        1,
        "dotted key in an inline table",
    ),
    "an item for a value that is not a list": ("x = 1\na = 1\n", {("a",): AppendItem("b")}, 2, "a is not a list"),
    "an item removed from a value that is not a list": (
        "a = {b = 1}\n",
        {("a", "b"): RemoveItem("c")},
        1,
        "b is not a list",
    ),
    "an item for an array of tables": ("x = 1\n[[a]]\nb = 1\n", {("a",): AppendItem("b")}, 2, "a is a table"),
    "an item that is there twice": ("a = ['x', 'x']\n", {("a",): RemoveItem("x")}, 1, "holds an item twice"),
    "an inline table over several lines": ("x = 1\na = {b = [\n1]}\n", {("a", "c"): 1}, 2, "several lines"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_unsafe_edit_is_refused_with_its_line(name: str) -> None:
    text, changes, line, message = REFUSED[name]
    with pytest.raises(UnsupportedEdit, match=message) as raised:
        edit_toml(text, changes)
    assert raised.value.line == line
    assert raised.value.remedy


def test_a_text_that_does_not_parse_is_not_edited() -> None:
    with pytest.raises(ParseError, match="line 2"):
        edit_toml("a = 1\na = 2\n", {("b",): 1})
