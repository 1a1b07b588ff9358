# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts with the same text are one group."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.report.host_groups import (
    HostGroup,
    group_texts,
    render_text_groups,
    without_name,
)


def limit(name: str, hosts: Collection[str]) -> str:
    return f"<{name}: {' '.join(hosts)}>"


@pytest.mark.parametrize(
    ("text", "common"),
    [
        ("node1 is misaligned", "HOST is misaligned"),
        ("cannot reach node1.", "cannot reach HOST."),
        ("'node1': a", "'HOST': a"),
        (
            "node10, node1.example.com, my-node1, node1-b and xnode1",
            "node10, node1.example.com, my-node1, node1-b and xnode1",
        ),
    ],
)
def test_only_the_whole_name_is_replaced(text: str, common: str) -> None:
    assert without_name(text, "node1") == common


def test_texts_that_differ_in_the_name_only_are_one_group_and_the_largest_comes_first() -> None:
    texts = [("n9", "no disk on n9"), *((f"n{number}", f"n{number} is down") for number in (3, 1, 2))]
    assert group_texts(texts) == [HostGroup("HOST is down", ("n3", "n1", "n2")), HostGroup("no disk on n9", ("n9",))]


def test_a_host_with_a_text_twice_is_once_in_its_group() -> None:
    assert group_texts([("a", "x"), ("a", "x")]) == [HostGroup("x", ("a",))]


def test_a_group_has_its_hosts_its_text_and_an_option_for_several_hosts() -> None:
    groups = [HostGroup("HOST is down", ("a", "b")), HostGroup("no disk", ("c",))]
    assert list(render_text_groups(groups, "x", limit, most=4, state="failed")) == [
        "2 hosts failed: HOST is down",
        "  <x-1: a b>",
        "c failed: no disk",
    ]
    assert list(render_text_groups(groups[1:], "x", limit, most=4)) == ["c: no disk"]


def test_groups_beyond_the_limit_are_counted_and_named() -> None:
    groups = [HostGroup(f"text {number}", (f"n{number}",)) for number in range(6)]
    assert list(render_text_groups(groups, "x", limit, most=3))[2:] == [
        "4 hosts: 4 further messages, which -v shows",
        "  <x-further: n2 n3 n4 n5>",
    ]
    assert len(list(render_text_groups(groups, "x", limit, most=6))) == 6


def test_a_long_text_is_wrapped_and_cut_and_cannot_move_the_cursor() -> None:
    text = "first\x1b[2J\n\n" + "word " * 100
    lines = list(render_text_groups([HostGroup(text, ("a",))], "x", limit, most=1))
    assert lines[0] == "a: first\\x1b[2J"
    assert lines[-1] == "  … 3 more lines, which -v shows"
    assert len(lines) == 3
    assert max(map(len, lines)) <= 135


def test_an_empty_text_leaves_the_hosts() -> None:
    assert list(render_text_groups([HostGroup("", ("a",))], "x", limit, most=1)) == ["a"]
