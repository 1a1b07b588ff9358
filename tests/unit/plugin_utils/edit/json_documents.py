# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Generated JSON documents in the layouts that programs and people write."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from ansible_collections.volcano.colocation.tests.unit.plugin_utils.edit.yaml_documents import KEYS, STRINGS

Draw = Callable[[st.SearchStrategy[Any]], Any]

KEY_NAMES = st.one_of(KEYS, st.sampled_from(('say "x"', "back\\slash", "{", "tab\t", "")))
TEXTS = st.one_of(STRINGS, st.sampled_from(('"', "\\", "}", ",", "\n", "\u2028", "/")))
FINITE = st.floats(allow_nan=False, allow_infinity=False)
SCALARS = st.one_of(TEXTS, st.booleans(), st.integers(-(2**63), 2**64 - 1), FINITE, st.none())
TREES = st.dictionaries(
    KEY_NAMES,
    st.recursive(
        SCALARS,
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEY_NAMES, inner, max_size=3)),
        max_leaves=6,
    ),
    max_size=6,
)
NEW_SCALARS = st.one_of(TEXTS, st.booleans(), st.integers(-5, 10**6), FINITE)
NEW_VALUES = st.one_of(NEW_SCALARS, st.lists(NEW_SCALARS, max_size=3))
WHITESPACE = st.sampled_from(("", "", " ", "  ", "\t", "\n", "\r\n", "\n  ", " \n\t"))


@dataclass(frozen=True)
class Written:
    """A generated text and its values."""

    text: str
    values: dict[str, Any]


def _loose(draw: Draw, value: Any) -> str:
    """JSON with whitespace wherever it is allowed."""

    def space() -> str:
        return str(draw(WHITESPACE))

    if isinstance(value, dict):
        members = [
            f"{space()}{json.dumps(key)}{space()}:{space()}{_loose(draw, below)}{space()}"
            for key, below in value.items()
        ]
        return "{" + (",".join(members) or space()) + "}"
    if isinstance(value, list):
        return "[" + (",".join(f"{space()}{_loose(draw, item)}{space()}" for item in value) or space()) + "]"
    return json.dumps(value, ensure_ascii=draw(st.booleans()))


@st.composite
def written(draw: Draw) -> Written:
    """A document in the layout of json.dumps, jq or a person."""
    values = draw(TREES)
    ascii_only = draw(st.booleans())
    text = draw(
        st.sampled_from(
            (
                json.dumps(values, ensure_ascii=ascii_only),
                json.dumps(values, ensure_ascii=ascii_only, separators=(",", ":")),
                json.dumps(values, ensure_ascii=ascii_only, indent=2),
                json.dumps(values, ensure_ascii=ascii_only, indent="\t"),
                None,
            )
        )
    )
    text = _loose(draw, values) if text is None else text
    text = text.replace("\n", "\r\n") if "\r" not in text and draw(st.booleans()) else text
    mark, end = draw(st.sampled_from(("", "", "\ufeff"))), draw(st.sampled_from(("", "\n", "\r\n", "\n\n")))
    return Written(mark + text + end, values)
