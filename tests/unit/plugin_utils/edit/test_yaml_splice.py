# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits of YAML texts: each case has the whole text before and after."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.document_changes import (
    REMOVE,
    AppendItem,
    RemoveItem,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.text_errors import (
    EditError,
    MissingLibrary,
    ParseError,
    UnsupportedEdit,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.yaml_splice import edit_yaml

CASES: dict[str, tuple[str, dict[tuple[str, ...], Any], str]] = {
    "a comment behind the value stays": (
        "cgroupDriver: cgroupfs  # was systemd\nkind: X\n",
        {("cgroupDriver",): "systemd"},
        "cgroupDriver: systemd  # was systemd\nkind: X\n",
    ),
    "quotes go where none are needed": (
        'cgroupDriver: "cgroupfs"\n',
        {("cgroupDriver",): "systemd"},
        "cgroupDriver: systemd\n",
    ),
    "quotes come where they are needed": (
        "reservedSystemCPUs: x\n",
        {("reservedSystemCPUs",): "0-1"},
        'reservedSystemCPUs: "0-1"\n',
    ),
    "single quotes stay single": ("cpus: '0'\n", {("cpus",): "0-1"}, "cpus: '0-1'\n"),
    "a new key stays before the end of the document": (
        "a: 1\nb: 2\n\n# the end\n",
        {("c",): True},
        "a: 1\nb: 2\nc: true\n\n# the end\n",
    ),
    "a new key passes the comments inside the last mapping": (
        "a:\n  b: 1\n  # c: 2\n# end\n",
        {("d",): 1, ("a", "e"): 2},
        "a:\n  b: 1\n  e: 2\n  # c: 2\nd: 1\n# end\n",
    ),
    "a new mapping takes the file's indentation": (
        "a:\n    b: 1\n",
        {("systemReserved", "cpu"): "500m", ("systemReserved", "memory"): "1Gi"},
        "a:\n    b: 1\nsystemReserved:\n    cpu: 500m\n    memory: 1Gi\n",
    ),
    "an absent value becomes a mapping or a scalar": (
        "a:  # later\n  # x: 1\nb: ~ # none\nc:\nd: null\n",
        {("a", "x"): 1, ("b", "x"): 2, ("c",): "y z", ("d",): 1},
        'a:  # later\n  x: 1\n  # x: 1\nb: # none\n  x: 2\nc: "y z"\nd: 1\n',
    ),
    "an empty mapping is filled in its braces": (
        "a: {}  # none\nb: { }\n",
        {("a", "x"): "1", ("a", "y", "z"): 2, ("b", "c"): "d"},
        'a: {x: "1", "y": {z: 2}}  # none\nb: { c: d }\n',
    ),
    "entries of a flow mapping keep their spacing": (
        "a: { 'b': 1,  c: {d: x} , e, f: }\n",
        {("a", "b"): 2, ("a", "c", "d"): REMOVE, ("a", "g"): "0", ("a", "e"): True, ("a", "f", "h"): 1},
        "a: { 'b': 2 , e: true, f: {h: 1}, g: \"0\" }\n",
    ),
    "a mapping in a flow mapping": (
        "a: {b: { c: 1, d: 2 }, e: 3}\n",
        {("a", "b", "d"): REMOVE, ("a", "b", "c"): 4, ("a", "b", "f"): 5},
        "a: {b: { c: 4, f: 5 }, e: 3}\n",
    ),
    "the first entry of a flow mapping goes": ("a: { b: 1, c: 2 }\n", {("a", "b"): REMOVE}, "a: { c: 2 }\n"),
    "a document in braces": ('{"a": 1}\n', {("a",): 2, ("b",): "x"}, '{"a": 2, b: x}\n'),
    "a document in braces is emptied": ("{a: 1}\n", {("a",): REMOVE}, "{}\n"),
    "an emptied mapping goes": ("a: 1\nb:\n  c:\n    d: 1\ne: 1\n", {("b", "c", "d"): REMOVE}, "a: 1\ne: 1\n"),
    "a mapping goes with all it holds": (
        "a: 1\nb:\n  # c\n  d: [1,\n   2]\n\ne: 1\n",
        {("b",): REMOVE},
        "a: 1\n\ne: 1\n",
    ),
    "emptied braces stay, but not in others": (
        "a: {b: 1} # c\nd: { e: {f: 1}, }\ng: {h: 1, i: {j: 1}}\n",
        {("a", "b"): REMOVE, ("d", "e", "f"): REMOVE, ("g", "i", "j"): REMOVE},
        "a: {} # c\nd: { }\ng: {h: 1}\n",
    ),
    "an emptied mapping with comments stays": (
        "a: # x\n  b: 1 # y\nc:\n  # d\n  e: 1\nf:\n  g: 1\n  # h\ni:\n  j: 1\n# k\nl: 1\n",
        {("a", "b"): REMOVE, ("c", "e"): REMOVE, ("f", "g"): REMOVE, ("i", "j"): REMOVE},
        "a: # x\nc:\n  # d\nf:\n  # h\n# k\nl: 1\n",
    ),
    "one item more": (
        "a:\n- x # c\n# d\nb:\n    - x\n\nc: [x] # e\nd: [ ]\ne:\nf: [x,\n  'y', # g\n  ]\n",
        {(key,): AppendItem("z z") for key in "abcdefg"},
        'a:\n- x # c\n- "z z"\n# d\nb:\n    - x\n    - "z z"\n\nc: [x, "z z"] # e\nd: [ "z z" ]\ne: ["z z"]\n'
        'f: [x,\n  \'y\', # g\n  "z z",\n  ]\ng:\n- "z z"\n',
    ),
    "one item less": (
        "a:\n# b\n- x # c\n# d\n- y\nb:\n  - x\nc: [x] # e\nd: [ y, x ]\ne: [\n  x, # f\n  y\n]\nh: ~\n",
        {(key,): RemoveItem("x") for key in "abcdefgh"},
        "a:\n# b\n# d\n- y\nb: []\nc: [] # e\nd: [ y ]\ne: [\n  y\n]\nh: ~\n",
    ),
    "an item of a list in braces": (
        "a: {b: [x], c: [v, z]}\n",
        {("a", "b"): AppendItem("w"), ("a", "c"): RemoveItem("v")},
        "a: {b: [x, w], c: [z]}\n",
    ),
    "a mapping as an item": (
        "reservedMemory:\n- numaNode: 0\n  limits:\n    memory: 1Gi\nx: 1\n",
        {("reservedMemory",): AppendItem({"numaNode": 1, "limits": {"memory": "2Gi"}})},
        "reservedMemory:\n- numaNode: 0\n  limits:\n    memory: 1Gi\n- numaNode: 1\n  limits:\n    memory: 2Gi\nx: 1\n",
    ),
    "a mapping is taken out of a list": (
        "r:\n  - n: 0\n    l:\n      m: 1Gi\n    # c\n  - n: 1\n",
        {("r",): RemoveItem({"n": 0, "l": {"m": "1Gi"}})},
        "r:\n    # c\n  - n: 1\n",
    ),
    "kubelet's lists and maps in a file with nothing but its kind": (
        "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n",
        {
            ("enforceNodeAllocatable",): ["pods", "system-reserved"],
            ("reservedMemory",): [{"numaNode": 0, "limits": {"memory": "1Gi", "hugepages-2Mi": "0"}}],
            ("memoryThrottlingFactor",): 0.9,
            ("featureGates", "MemoryQoS"): True,
            ("evictionHard", "memory.available"): "5%",
            ("podPidsLimit",): -1,
        },
        "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
        "enforceNodeAllocatable:\n- pods\n- system-reserved\n"
        'reservedMemory:\n- numaNode: 0\n  limits:\n    memory: 1Gi\n    hugepages-2Mi: "0"\n'
        "memoryThrottlingFactor: 0.9\nfeatureGates:\n  MemoryQoS: true\n"
        "evictionHard:\n  memory.available: 5%\npodPidsLimit: -1\n",
    ),
    "a list of mappings is replaced": (
        "r:\n  - n: 0\n    l: {m: 1Gi}\n  - n: 1\ns: 1\n",
        {("r",): [{"m": 2, "l": {}, "k": [1]}, {}]},
        "r:\n  - m: 2\n    l: {}\n    k:\n      - 1\n  - {}\ns: 1\n",
    ),
    "a list of mappings in braces": (
        "{a: 1}\n",
        {("r",): [{"n": 0, "l": {"m": "1Gi"}}], ("g", "h"): True},
        '{a: 1, r: [{"n": 0, l: {m: 1Gi}}], g: {h: true}}\n',
    ),
    "an anchor elsewhere": (
        "a: &x {b: 1}\nc: *x\nd:\n- &y 1\n- *y\n- z\n",
        {("d",): RemoveItem("z"), ("e",): 1},
        "a: &x {b: 1}\nc: *x\nd:\n- &y 1\n- *y\ne: 1\n",
    ),
    "all keys go": ("# c\na: 1\n", {("a",): REMOVE}, "# c\n"),
    "a list becomes another": (
        "f: # hey\n# h\n- a\n\n- b\n# g\nh: [x]\n",
        {("f",): ["pods", "0"], ("h",): ["z"]},
        'f: # hey\n# h\n- pods\n\n- "0"\n# g\nh: [z]\n',
    ),
    "a list becomes a scalar or empty": (
        "f:\n  - a\n  - b\ng:\n- x\nh: 1\n",
        {("f",): "x", ("g",): []},
        "f: x\ng: []\nh: 1\n",
    ),
    "a list ends in an item without value": (
        "f:\n- a\n- - x\n  -\n  # c -\ng: 1\n",
        {("f",): REMOVE},
        "  # c -\ng: 1\n",
    ),
    "a list ends in an alias": ("a: &x 1\nf:\n- 2\n- *x\n\n# c\ng: 1\n", {("f",): REMOVE}, "a: &x 1\n\n# c\ng: 1\n"),
    "a new list is written as the others": ("a:\n  - b\n", {("c",): ["d"]}, "a:\n  - b\nc:\n  - d\n"),
    "a new list in a new file": ("", {("c",): ["d"], ("e",): []}, "c:\n- d\ne: []\n"),
    "a block scalar is replaced": (
        "k: | # comment\n  aa\n  # b\n\n  # c\nl: >-\n  x\n\nm: |+\n  y\n\n\nn: 1\n",
        {("k",): "x", ("l",): 1, ("m",): "z"},
        "k: x # comment\nl: 1\n\nm: z\n\n\nn: 1\n",
    ),
    "a scalar over two lines is replaced": (
        'k: "a\n  # b"\nl: c\n  d\nm: 1\n',
        {("k",): "x", ("l",): "y"},
        'k: x\nl: "y"\nm: 1\n',
    ),
    "a key follows an alias": (
        "a: &x {b: 1}\nc: *x\nd:\n  *x\n# e\n",
        {("f",): 1},
        "a: &x {b: 1}\nc: *x\nd:\n  *x\nf: 1\n# e\n",
    ),
    "a key follows a block scalar that keeps its end": ("a: |+\n  x\n\n\n", {("b",): 1}, "a: |+\n  x\n\n\nb: 1\n"),
    "the empty file": ("", {("a", "b"): 1}, "a:\n  b: 1\n"),
    "blank lines only": ("\n\n", {("a",): 1}, "a: 1\n\n\n"),
    "comments only": ("# licence\n\n", {("a",): 1}, "# licence\na: 1\n\n"),
    "markers only": ("# c\n---\n# d\n\n...\n", {("a",): 1}, "# c\n---\n# d\na: 1\n\n...\n"),
    "markers": ("%YAML 1.1\n---\na: 1\n...\n", {("b",): 2}, "%YAML 1.1\n---\na: 1\nb: 2\n...\n"),
    "no line end at the end": ("a: 1\nb: 2", {("b",): 3, ("c", "d"): 4}, "a: 1\nb: 3\nc:\n  d: 4"),
    "the last line goes": ("a: 1\nb: 2", {("b",): REMOVE}, "a: 1"),
    "CRLF and a byte order mark": (
        "\ufeffa: 1\r\nb:\r\n\r\n",
        {("b", "c"): "x", ("a",): 2},
        "\ufeffa: 2\r\nb:\r\n  c: x\r\n\r\n",
    ),
    "mixed line ends": ("a: 1\r\nb:\n  c: 1\n\r\n", {("b", "d"): 2}, "a: 1\r\nb:\n  c: 1\n  d: 2\n\r\n"),
    "tabs": (
        "a:\t1\t# c\nb: [1,\t2]\nd: |\n  x\ty\n",
        {("a",): 2, ("b",): ["z"]},
        "a:\t2\t# c\nb: [z]\nd: |\n  x\ty\n",
    ),
    "an indented document": ("  a: 1\n  b:\n    c: 2\n", {("d",): 3}, "  a: 1\n  b:\n    c: 2\n  d: 3\n"),
    "names of other scripts": ("é: ü # 😀\nb: 1 # 😀\n", {("b",): "ö", ("ñ",): 1}, 'é: ü # 😀\nb: "ö" # 😀\n"ñ": 1\n'),
    "keys that need quotes": (
        "a: 1\n",
        {("memory.available",): "5%", ("on",): 1, ("0",): 2},
        'a: 1\nmemory.available: 5%\n"on": 1\n"0": 2\n',
    ),
    "a space before the colon": ("a : 1\nb :\n", {("a",): 2, ("b",): 3}, "a : 2\nb : 3\n"),
    "the type of a value counts": (
        "a: 1\nb: true\nc: '5'\nd: 1\n",
        {("a",): "1", ("b",): "true", ("c",): 5, ("d",): 1.0},
        'a: "1"\nb: "true"\nc: 5\nd: 1.0\n',
    ),
    "text like a comment or a key inside a string": (
        "a: 'x # y'\nb: \"c: 1\"\nc: 2\n",
        {("c",): 3, ("a",): "z # z"},
        "a: 'z # z'\nb: \"c: 1\"\nc: 3\n",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_yaml_text_is_edited_once_and_a_second_edit_changes_nothing(name: str) -> None:
    before, changes, after = CASES[name]
    assert edit_yaml(before, changes) == after
    assert edit_yaml(after, changes) == after


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("cgroupDriver: 'systemd' # quoted\n", {("cgroupDriver",): "systemd"}),
        ("a: on\nb: 0x10\nc: 1e3\n", {("a",): True, ("b",): 16, ("c",): 1000.0}),
        ("a: &x\n  b: 1\nc: *x\n", {("c", "b"): 1}),
        ("{\n}\n", {("a",): REMOVE, ("b", "c"): REMOVE}),
        ("", {}),
    ],
)
def test_a_text_with_all_desired_values_stays_the_same_object(text: str, changes: Any) -> None:
    assert edit_yaml(text, changes) is text


REFUSED: dict[str, tuple[str, dict[tuple[str, ...], Any], int, str]] = {
    "an anchor on the way": ("b: 1\na: &x\n  c: 1\nd: *x\n", {("a", "c"): 2}, 2, "anchor, alias or tag"),
    "an anchor at the value": ("a: &x 1\n", {("a",): 2}, 1, "anchor, alias or tag"),
    "an alias on the way": ("a: &x\n  c: 1\nd: *x\n", {("d", "c"): 2}, 3, "anchor, alias or tag"),
    "an alias at the value": ("a: &x 1\nd: *x\n", {("d",): REMOVE}, 2, "anchor, alias or tag"),
    "a tag": ("a: !!str 1\n", {("a",): "2"}, 1, "anchor, alias or tag"),
    "a merge key": ("a: &x {c: 1}\nd:\n  <<: *x\n  e: 1\n", {("d", "e"): 2}, 3, "merge key"),
    "a merge key that brings the value": ("a: &x {c: 1}\nd:\n  <<: *x\n  e: 1\n", {("d", "c"): REMOVE}, 3, "merge key"),
    "a merge key in braces": ("a: &x {c: 1}\nd: {<<: *x, e: 1}\n", {("d", "e"): 2}, 2, "merge key"),
    "an alias in braces": ("a: &x {c: 1}\nd: {b: *x, e: 1}\n", {("d", "e"): 2}, 2, "these braces contain a YAML alias"),
    "an anchor in braces": ("d: {b: &x 1, e: 1}\n", {("d", "b"): 2}, 1, "anchor, alias or tag"),
    "an anchor in braces to be removed": ("d: {b: &x 1, e: 1}\n", {("d", "b"): REMOVE}, 1, "anchor, alias or tag"),
    "braces over several lines": ("a: 1\nb: {c: 1,\n  d: 2}\n", {("b", "d"): 3}, 2, "several lines"),
    "a JSON document": ('{\n  "a": 1\n}\n', {("a",): 2}, 1, "is the file JSON"),
    "an explicit key": ("a: 1\n? b\n: 2\n", {("b",): 3}, 2, "does not begin its line"),
    "a path through a scalar": ("a: 1\nb: x\n", {("b", "c"): 1}, 2, "b is not a mapping"),
    "a path through a list": ("a: 1\nb: [x]\n", {("b", "c"): 1}, 2, "b is not a mapping"),
    "a scalar for a mapping": ("a: 1\nb:\n  c: 1\n", {("b",): 1}, 2, "b holds a mapping"),
    "a scalar for an empty mapping": ("b: {c: {}}\n", {("b", "c"): 1}, 1, "c holds a mapping"),
    "an item for a value that is not a list": ("a: 1\nb: x\n", {("b",): AppendItem("y")}, 2, "b is not a list"),
    "an item removed from a value that is not a list": (
        "a: 1\nb: {c: 1}\n",
        {("b",): RemoveItem("c")},
        2,
        "b is not a list",
    ),
    "an item for a list with an anchor": ("a: &x [1]\n", {("a",): AppendItem("y")}, 1, "anchor, alias or tag"),
    "an item that is there twice": ("a:\n- x\n- y\n- x\n", {("a",): RemoveItem("x")}, 1, "holds an item twice"),
    "an item that is an alias": ("b: &x z\na:\n- *x\n", {("a",): RemoveItem("z")}, 3, "not written plainly"),
    "an item behind two lines": ("a:\n-\n  x\n", {("a",): RemoveItem("x")}, 3, "does not follow its own dash"),
    "an explicit null": ("---\nnull\n", {("a",): 1}, 2, "explicit null"),
    "an anchor on the document": ("--- &x\na: 1\n", {("a",): 2}, 1, "explicit null, or has an anchor"),
    "a line end that only YAML 1.1 has": ("a: b\u2028c: d\n", {("c",): "e"}, 1, "c does not begin its line"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_unsafe_edit_is_refused_with_its_line(name: str) -> None:
    text, changes, line, message = REFUSED[name]
    with pytest.raises(UnsupportedEdit, match=message) as raised:
        edit_yaml(text, changes)
    assert raised.value.line == line
    assert raised.value.remedy


def test_a_text_that_does_not_parse_is_not_edited() -> None:
    with pytest.raises(ParseError, match="line 2: key 'a' is set twice"):
        edit_yaml("a: 1\na: 2\n", {("b",): 1})


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("a: |\n  x", {("b",): 1}),  # the line end that comes before b would become part of a
        ("a:\n  b: &x 1\nc: *x\n", {("a",): REMOVE}),
        ("a: 1\n...\n", {("a",): REMOVE}),
    ],
)
def test_an_edit_that_would_change_more_is_abandoned(text: str, changes: Any) -> None:
    with pytest.raises(EditError, match="the edit was abandoned"):
        edit_yaml(text, changes)


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(MissingLibrary, match="pip install 'PyYAML'"):
        edit_yaml("a: 1\n", {("a",): 2})
