# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Generated TOML documents in the styles people and programs write."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.document_changes import Path
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.edit.oracle import Document, Owned

Draw = Callable[[st.SearchStrategy[Any]], Any]

WORDS = st.text("abcdefghij", min_size=1, max_size=5)
KEYS = st.one_of(WORDS, st.sampled_from(("io.containerd.grpc.v1.cri", "a b", "0-x", "é", "x#y")))
STRINGS = st.one_of(WORDS, st.sampled_from(("", "[a]", "# no", 'say "x"', "it's", "é 😀", "a\\b", "x = 1", "tab\t")))
SCALARS = st.one_of(
    STRINGS,
    st.booleans(),
    st.integers(-9, 99999),
    st.sampled_from((0.5, 1e20, datetime.datetime(1979, 5, 27, 7, 32), datetime.date(2026, 1, 2))),
)
SIMPLE = st.one_of(STRINGS, st.booleans(), st.integers(-5, 10**6), st.floats())
ITEMS = st.recursive(
    SIMPLE,
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(KEYS, inner, max_size=2)),
    max_leaves=4,
)
VALUES = st.one_of(SCALARS, st.lists(STRINGS, max_size=3))
FLAT = st.dictionaries(WORDS, SCALARS, min_size=1, max_size=2)
TREES = st.dictionaries(
    KEYS,
    st.recursive(
        st.one_of(VALUES, st.lists(FLAT, min_size=1, max_size=2)),
        lambda inner: st.dictionaries(KEYS, inner, max_size=3),
        max_leaves=6,
    ),
    max_size=5,
)
BLANKS = st.sampled_from(("", "", "# comment = 1", "#", "# [commented.out]"))
COMMENTS = st.sampled_from(("", "", "", " # c", "  #x = [1]"))


@dataclass(frozen=True)
class _Style:
    step: str
    setting: str
    quote: str
    equals: str
    parted: bool


STYLES = st.builds(
    _Style,
    st.sampled_from(("", "  ", "\t")),
    st.sampled_from(("", "  ")),
    st.sampled_from(('"', "'")),
    st.sampled_from((" = ", "=", "  =  ")),
    st.booleans(),
)


def _key(path: Path, style: _Style) -> str:
    bare = [part if part.isascii() and part.replace("-", "").isalnum() else None for part in path]
    quoted = [json.dumps(part, ensure_ascii=False) if style.quote == '"' else f"'{part}'" for part in path]
    return ".".join(short or long for short, long in zip(bare, quoted, strict=True))


def _text(draw: Draw, value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key((key,), PLAIN)} = {_text(draw, below)}" for key, below in value.items()) + " }"
    if isinstance(value, list):
        return (
            "["
            + ", ".join(_text(draw, item) for item in value)
            + draw(st.sampled_from(("", " ", ","))) * bool(value)
            + "]"
        )
    if isinstance(value, datetime.date):
        return str(value)
    if not isinstance(value, str):
        return json.dumps(value)
    if "'" not in value and draw(st.booleans()):
        return f"'{value}'"
    return json.dumps(value, ensure_ascii=False)


PLAIN = _Style("", "", '"', " = ", parted=True)


def _setting(draw: Draw, path: Path, key: Path, value: Any, blanks: str, style: _Style) -> list[Owned]:
    comment = draw(COMMENTS)
    head = f"{blanks}{_key(key, style)}{style.equals}"
    if isinstance(value, list) and value and not isinstance(value[0], dict) and draw(st.booleans()):
        commas = [","] * (len(value) - 1) + [draw(st.sampled_from((",", "")))]
        items = [(f"{blanks}  {_text(draw, item)}{c} # ] [x]", path) for item, c in zip(value, commas, strict=True)]
        return [(f"{head}[ # [", path), *items, (f"{blanks}]{comment}", path)]
    if isinstance(value, str) and value.isalpha() and draw(st.integers(0, 5)) == 0:
        return [(f'{head}"""', path), (f"{value}\\", path), (f'  """{comment}', path)]
    return [(f"{head}{_text(draw, value)}{comment}", path)]


def _is_listed(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _has_tables(value: dict[str, Any]) -> bool:
    return any(_is_listed(below) or (isinstance(below, dict) and _has_tables(below)) for below in value.values())


def _table(draw: Draw, values: dict[str, Any], path: Path, depth: int, style: _Style) -> list[Owned]:
    """The settings of one table, then its sub-tables."""
    blanks = style.step * max(depth - 1, 0) + (style.setting if path else "")
    lines: list[Owned] = []
    tables: list[Owned] = []
    for key, value in values.items():
        below = (*path, key)
        if _is_listed(value):
            tables += _listed(draw, value, below, depth + 1, style)
        elif not isinstance(value, dict):
            lines += _between(draw, path, blanks) + _setting(draw, below, (key,), value, blanks, style)
        else:
            form = "table" if _has_tables(value) else draw(st.sampled_from(("table", "table", "dotted", "inline")))
            if form == "inline":
                lines += _setting(draw, below, (key,), value, blanks, style)
            elif form == "dotted" and value:
                lines += _dotted(draw, value, path, (key,), blanks, style)
            else:
                tables += _headed(draw, value, below, depth + 1, style)
    return lines + tables


def _between(draw: Draw, path: Path, blanks: str) -> list[Owned]:
    comment = draw(BLANKS)
    return [(f"{blanks}{comment}" if comment else "", path)] if draw(st.integers(0, 3)) == 0 else []


def _dotted(draw: Draw, values: dict[str, Any], path: Path, above: Path, blanks: str, style: _Style) -> list[Owned]:
    lines: list[Owned] = []
    for name, value in values.items():
        key = (*above, name)
        if isinstance(value, dict) and value:
            lines += _dotted(draw, value, path, key, blanks, style)
        else:
            lines += _setting(draw, (*path, *key), key, value, blanks, style)
    return lines


def _header(draw: Draw, path: Path, depth: int, style: _Style, brackets: str) -> list[Owned]:
    gap: list[Owned] = [("", path)] if style.parted else []
    comment = [("# about the next", path[:-1])] if draw(st.integers(0, 5)) == 0 else []
    blanks = style.step * (depth - 1)
    name = brackets.replace("*", _key(path, style))
    return [*gap, *comment, (f"{blanks}{name}{draw(COMMENTS)}", path)]


def _headed(draw: Draw, values: dict[str, Any], path: Path, depth: int, style: _Style) -> list[Owned]:
    lines = _table(draw, values, path, depth, style)
    implied = bool(lines) and lines[0][0].strip() == "" and style.parted and draw(st.booleans())
    only_tables = all(isinstance(value, dict) and value for value in values.values())
    if implied and only_tables and lines[1][0].lstrip().startswith(f"[{_key(path, style)}."):
        return lines
    return _header(draw, path, depth, style, "[*]") + lines


def _listed(draw: Draw, items: list[dict[str, Any]], path: Path, depth: int, style: _Style) -> list[Owned]:
    lines: list[Owned] = []
    for item in items:
        lines += _header(draw, path, depth, style, "[[*]]")
        for key, value in item.items():
            lines += _setting(draw, path, (key,), value, style.step * (depth - 1), style)
    return lines


@st.composite
def documents(draw: Draw) -> Document:
    """A TOML document."""
    values = draw(TREES)
    lines: list[Owned] = [(line, ()) for line in draw(st.sampled_from(((), (), ("# head", ""), ("# head",))))]
    lines += _table(draw, values, (), 0, draw(STYLES))
    lines += [(line, ()) for line in draw(st.sampled_from(((), (), ("", ""), ("# end",), ("", "# end"))))]
    return Document(
        tuple(lines),
        values,
        end=draw(st.sampled_from(("\n", "\n", "\r\n"))),
        mark=draw(st.sampled_from(("", "", "\ufeff"))),
        last_end=draw(st.sampled_from((True, True, False))),
    )
