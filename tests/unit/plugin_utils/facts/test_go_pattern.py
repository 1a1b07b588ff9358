# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Patterns of imports as Go reads them: examples of Go's own path/filepath/match_test.go."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.containerd_layers import compile_go_pattern


@pytest.mark.parametrize(
    ("pattern", "name", "matches"),
    [
        ("abc", "abc", True),
        ("*", "abc", True),
        ("*c", "abc", True),
        ("a*", "ab/c", False),
        ("a*/b", "abc/b", True),
        ("a*/b", "a/c/b", False),
        ("a*b*c*d*e*/f", "axbxcxdxe/xxx/f", False),
        ("ab[c]", "abc", True),
        ("ab[b-d]", "abc", True),
        ("ab[e-g]", "abc", False),
        ("ab[^c]", "abc", False),
        ("ab[^e-g]", "abc", True),
        ("a\\*b", "a*b", True),
        ("a\\*b", "ab", False),
        ("a?b", "a\u263ab", True),
        ("a[^a][^a][^a]b", "a\u263ab", False),
        ("[\\]a]", "]", True),
        ("[\\-x]", "-", True),
        ("[x\\-]", "z", False),
        ("[z-a]x", "ax", False),
        ("[^z-a]x", "ax", True),
        ("a?b", "a/b", False),
        ("a[^x]b", "a/b", False),
        ("[!2]", "!", True),
        ("{a,b}", "a", False),
    ],
)
def test_a_pattern_matches_as_in_go(pattern: str, name: str, matches: bool) -> None:
    regex = compile_go_pattern(pattern)
    assert regex is not None
    assert (regex.fullmatch(name) is not None) is matches


@pytest.mark.parametrize("pattern", ["[]a]", "[-]", "[x-]", "[-x]", "[a-b-c]", "[", "[^", "[^bc", "a[", "a\\", "[a\\"])
def test_a_pattern_that_go_refuses_is_none(pattern: str) -> None:
    assert compile_go_pattern(pattern) is None
