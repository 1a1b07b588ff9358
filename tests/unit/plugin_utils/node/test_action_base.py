# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Arguments become plain builtins instead of Ansible's subclasses."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.node.action_base import strip_tags


class Text(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "another text"


class Whole(int):
    pass


class Real(float):
    pass


@pytest.mark.parametrize(
    ("value", "kind", "plain"),
    [
        (Text("a"), str, "a"),
        (Whole(3), int, 3),
        (Real(1.5), float, 1.5),
        (True, bool, True),
        (None, type(None), None),
        ((Text("a"),), list, ["a"]),
        (OrderedDict({Text("k"): Text("v")}), dict, {"k": "v"}),
    ],
)
def test_values_become_exact_builtins(value: Any, kind: type, plain: Any) -> None:
    result = strip_tags(value)
    assert result.__class__ is kind
    assert result == plain


def test_values_become_exact_builtins_at_every_depth_and_in_every_key() -> None:
    plain = strip_tags({Text("a"): [{Text("b"): (Text("c"), Whole(1))}], 7: Text("d")})
    assert plain == {"a": [{"b": ["c", 1]}], 7: "d"}
    assert [type(key) for key in plain] == [str, int]
    assert plain["a"][0]["b"][0].__class__ is str


def test_what_is_no_builtin_is_left() -> None:
    marker = object()
    assert strip_tags(marker) is marker
