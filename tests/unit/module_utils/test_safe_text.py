# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""No control character reaches a terminal, and all other text stays as it is."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.volcano.colocation.plugins.module_utils.safe_text import one_line, printable, printable_result

DIRECTIONS = [*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x061C, 0x200E, 0x200F]
UNSAFE = [*range(0x20), *range(0x7F, 0xA0), *DIRECTIONS, 0x2028, 0x2029, 0xFEFF, 0xDC9B, 0xD800, 0xE0041]


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("a\rb\r\n", "a\\rb\\r\n"),
        ("\x00\x07\x08\x7f", r"\x00\x07\x08\x7f"),
        ("\x9b31m\x85", r"\x9b31m\x85"),
        ("user\u202enimda\u2066", r"user\u202enimda\u2066"),
        ("a\u2028b\u2029c", r"a\u2028b\u2029c"),
        ("byte \udc9b, \ud800", r"byte \x9b, \ud800"),
        ("tag \U000e0041", r"tag \U000e0041"),
        ("key:\tvalue\n", "key:\tvalue\n"),
        ("größe 大小 \u3000 \xa0 🚀 C:\\x1b \\", "größe 大小 \u3000 \xa0 🚀 C:\\x1b \\"),
    ],
)
def test_what_is_shown(text: str, escaped: str) -> None:
    assert printable(text) == escaped
    assert printable(escaped) == escaped


def test_on_one_line_newlines_and_tabs_are_escaped_too() -> None:
    assert one_line("a\n\tb\r") == r"a\n\tb\r"


@pytest.mark.parametrize("code", UNSAFE, ids=hex)
def test_every_unsafe_character_is_escaped(code: int) -> None:
    escaped = one_line(f"a{chr(code)}b")
    assert escaped.isprintable()
    assert escaped.startswith("a\\")


@given(st.text())
def test_only_newlines_and_tabs_remain_of_all_controls(text: str) -> None:
    escaped = printable(text)
    assert all(item in "\n\t" or unicodedata.category(item) not in ("Cc", "Cs", "Zl", "Zp") for item in escaped)
    assert escaped.count("\n") == text.count("\n")


EVIL = "\x1b]0;x\x07\r\u202e\x9b"
ESCAPED = r"\x1b]0;x\x07\r\u202e\x9b"


def test_a_result_is_made_printable_at_every_depth() -> None:
    result: dict[Any, Any] = {
        "msg": f"{EVIL}\nnext",
        "diff": [{"before_header": f"/a\n{EVIL}", "after": f"x\r\n{EVIL}"}],
        EVIL: {"list": [EVIL, {EVIL: (EVIL, 7, None, True, 1.5)}]},
        "changed": False,
        7: EVIL,
    }
    assert printable_result(result) == {
        "msg": f"{ESCAPED}\nnext",
        "diff": [{"before_header": rf"/a\n{ESCAPED}", "after": f"x\\r\n{ESCAPED}"}],
        ESCAPED: {"list": [ESCAPED, {ESCAPED: [ESCAPED, 7, None, True, 1.5]}]},
        "changed": False,
        7: ESCAPED,
    }


def test_a_snapshot_keeps_what_json_escapes_so_that_it_can_be_replayed() -> None:
    escaped = printable_result({"snapshot": {"text": f"a\r\n\x1b{EVIL}", "before_header": "a\n"}})
    assert escaped == {"snapshot": {"text": "a\r\n\x1b\x1b]0;x\x07\r\\u202e\\x9b", "before_header": "a\n"}}
    printed = json.dumps(escaped, ensure_ascii=False)
    assert printed.isprintable()
    assert json.loads(printed) == escaped


class Marked(str):
    """As Ansible marks texts."""


def test_a_text_of_another_type_stays_where_nothing_is_escaped() -> None:
    marked = Marked("plain")
    assert printable_result({"a": marked})["a"] is marked
