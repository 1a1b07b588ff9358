# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Generated YAML documents in the styles people and programs write."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.document_changes import Path
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.edit.oracle import Document, Owned

Draw = Callable[[st.SearchStrategy[Any]], Any]

WORDS = st.text("abcdefghij", min_size=1, max_size=6).filter(lambda word: word not in ("n", "y"))
KEYS = st.one_of(WORDS, st.sampled_from(("memory.available", "a b", "on", "0", "ü", "a#b", "x-y_z")))
STRINGS = st.one_of(
    WORDS,
    st.sampled_from(
        ("0-1", "500m", "yes", "1e3", "null", "", "a: b", "# no", "it's", 'say "x"', "10%", "é 😀", "[x]", "-")
    ),
)
SCALARS = st.one_of(STRINGS, st.booleans(), st.integers(-9, 99999), st.sampled_from((0.5, 1.25, None)))
SIMPLE = st.one_of(STRINGS, st.booleans(), st.integers(-5, 10**6), st.floats())
ITEMS = st.recursive(
    SIMPLE,
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(KEYS, inner, max_size=2)),
    max_leaves=4,
)
VALUES = st.one_of(SCALARS, st.lists(STRINGS, max_size=3))
TREES = st.dictionaries(
    KEYS,
    st.recursive(VALUES, lambda inner: st.dictionaries(KEYS, inner, max_size=3), max_leaves=6),
    max_size=6,
)
COMMENTS = st.sampled_from(("", "", "", "  # c", " #x: y"))
BLANKS = st.sampled_from(("", "", "", "# comment: 1", "", "#", "# {[\"'"))


def _key(draw: Draw, key: str) -> str:
    plain = key.isalpha() or key in ("memory.available", "x-y_z", "a b", "a#b")
    return key if plain and draw(st.booleans()) else json.dumps(key, ensure_ascii=False)


def _scalar(draw: Draw, value: Any) -> str:
    if value is None:
        return str(draw(st.sampled_from(("~", "null"))))
    if not isinstance(value, str):
        return json.dumps(value)
    if value.isalpha() and value not in ("yes", "null") and value.isascii() and draw(st.booleans()):
        return value
    return json.dumps(value, ensure_ascii=False) if draw(st.booleans()) else "'" + value.replace("'", "''") + "'"


def _flow(draw: Draw, value: Any) -> str:
    pad = draw(st.sampled_from(("", " ")))
    if isinstance(value, dict):
        entries = ", ".join(f"{_key(draw, key)}: {_flow(draw, below)}" for key, below in value.items())
        return f"{{{pad}{entries}{pad}}}" if entries else "{}"
    if isinstance(value, list):
        return "[" + ", ".join(_scalar(draw, item) for item in value) + "]"
    return _scalar(draw, value)


def _value(draw: Draw, head: str, value: Any, path: Path, step: int, indent: int) -> list[Owned]:
    comment = draw(COMMENTS)
    block = draw(st.booleans())
    if isinstance(value, dict) and value and (block or len(path) == 1):
        return [(f"{head}{comment}", path), *_block(draw, value, path, step, indent + step)]
    if isinstance(value, list) and value and block:
        dash = indent + draw(st.sampled_from((0, step)))
        return [(f"{head}{comment}", path)] + [(f"{' ' * dash}- {_scalar(draw, item)}", path) for item in value]
    if isinstance(value, list) and value and draw(st.integers(0, 3)) == 0:
        inner = " " * (indent + step)
        items = [(f"{inner}{_scalar(draw, item)}, # ]", path) for item in value[:-1]]
        last = f"{inner}{_scalar(draw, value[-1])}{draw(st.sampled_from(('', ',')))}"
        return [(f"{head} [ # [", path), *items, (last, path), (f"{inner}]{comment}", path)]
    if value is None and block:
        return [(f"{head}{comment}", path)]
    if isinstance(value, str) and value.isalpha() and draw(st.integers(0, 5)) == 0:
        return [(f"{head} |-{comment}", path), (f"{' ' * (indent + step)}{value}", path)]
    return [(f"{head} {_flow(draw, value)}{comment}", path)]


def _block(draw: Draw, values: dict[str, Any], above: Path, step: int, indent: int) -> list[Owned]:
    lines: list[Owned] = []
    for key, value in values.items():
        comment = draw(BLANKS)
        if comment or draw(st.integers(0, 4)) == 0:
            lines.append((" " * indent + comment if comment else "", above))
        head = f"{' ' * indent}{_key(draw, key)}{draw(st.sampled_from(('', '', '', ' ')))}:"
        lines += _value(draw, head, value, (*above, key), step, indent)
    return lines


@st.composite
def documents(draw: Draw) -> Document:
    """A YAML document; its last value is never a block scalar without its line end."""
    values = draw(TREES)
    head = draw(st.sampled_from(((), ("# head", ""), ("---",), ("# head", "--- # x"))))
    # For libyaml a lone end marker is an error.
    marker = [("...",)] if head and head[-1].startswith("---") else []
    tail = draw(st.sampled_from([(), (), ("", ""), ("# end",), ("", "# end"), *marker]))
    lines: list[Owned] = [(line, ()) for line in head]
    lines += _block(draw, values, (), draw(st.sampled_from((2, 4, 3))), 0)
    lines += [(line, ()) for line in tail]
    return Document(
        tuple(lines),
        values,
        end=draw(st.sampled_from(("\n", "\n", "\r\n"))),
        mark=draw(st.sampled_from(("", "", "\ufeff"))),
        last_end=draw(st.sampled_from((True, True, False))),
    )
