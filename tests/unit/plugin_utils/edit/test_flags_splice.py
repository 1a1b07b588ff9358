# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Flags removed from environment files: both forms, repeated, quoted, over several lines; every other byte stays."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.volcano.colocation.plugins.module_utils.systemd.unit_syntax import (
    parse_environment,
    split_words,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.flags_splice import remove_flags
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.text_errors import UnsupportedEdit

DRIVER = ("cgroupDriver", "--cgroup-driver", "ARGS")
SWITCH = ("failSwapOn", "--fail-swap-on", "ARGS")

REMOVED = {
    "kubeadm's": ('ARGS="--a=1 --cgroup-driver=systemd --b=2"\n', 'ARGS="--a=1 --b=2"\n'),
    "first": ('ARGS="--cgroup-driver=systemd --b=2"\n', 'ARGS="--b=2"\n'),
    "last": ('ARGS="--a=1  --cgroup-driver=systemd"\n', 'ARGS="--a=1"\n'),
    "alone": ('ARGS="--cgroup-driver=systemd"\n', 'ARGS=""\n'),
    "alone, no quotes": ("ARGS=--cgroup-driver=systemd\n", "ARGS=\n"),
    "two words": ("ARGS=--a=1 --cgroup-driver systemd --b=2\n", "ARGS=--a=1 --b=2\n"),
    "two words at the end": ("ARGS=--a=1 --cgroup-driver systemd\n", "ARGS=--a=1\n"),
    "underscores, as pflag takes them": ("ARGS=--a=1 --cgroup_driver=systemd\n", "ARGS=--a=1\n"),
    "twice, in both forms": (
        "ARGS=--cgroup-driver=systemd --a=1 --cgroup-driver cgroupfs --b\n",
        "ARGS=--a=1 --b\n",
    ),
    "single quotes outside": ("ARGS='--a=1 --cgroup-driver=systemd --b'\n", "ARGS='--a=1 --b'\n"),
    "quotes inside": ("ARGS=--a='x y' --cgroup-driver='systemd' --b=\"z\"\n", "ARGS=--a='x y' --b=\"z\"\n"),
    "whitespace of all kinds": ("ARGS=--a \t--cgroup-driver=systemd \t --b  \n", "ARGS=--a \t--b  \n"),
    "no line end": ("ARGS=--a --cgroup-driver=systemd", "ARGS=--a"),
    "carriage returns": ('X=1\r\nARGS="--a --cgroup-driver=systemd"\r\nY=2\r\n', 'X=1\r\nARGS="--a"\r\nY=2\r\n'),
    "a separate line": (
        'ARGS="--a \\\n--cgroup-driver=systemd \\\n --b"\nY=2\n',
        'ARGS="--a \\\n --b"\nY=2\n',
    ),
    "the last line": ('ARGS="--a \\\n --cgroup-driver=systemd"\nY=2\n', 'ARGS="--a"\nY=2\n'),
    "lines within quotes": ('ARGS="--a\n--cgroup-driver=systemd\n--b"\nY=2\n', 'ARGS="--a\n--b"\nY=2\n'),
    "the last assignment counts": (
        "ARGS=--cgroup-driver=systemd\n# x\nARGS=--a --cgroup-driver=systemd\n",
        "ARGS=--cgroup-driver=systemd\n# x\nARGS=--a\n",
    ),
    "another variable keeps it": (
        "OTHER=--cgroup-driver=systemd\nARGS=--a --cgroup-driver=systemd\n",
        "OTHER=--cgroup-driver=systemd\nARGS=--a\n",
    ),
    "comments": (
        "# ARGS=--cgroup-driver=x\n; ARGS=--cgroup-driver=y\nARGS=--a --cgroup-driver=systemd\n",
        "# ARGS=--cgroup-driver=x\n; ARGS=--cgroup-driver=y\nARGS=--a\n",
    ),
    "a comment that ends in a backslash": (
        "# x \\\nARGS=--a --cgroup-driver=systemd\n",
        "# x \\\nARGS=--a\n",
    ),
}


@pytest.mark.parametrize("case", REMOVED)
def test_a_flag_is_removed(case: str) -> None:
    before, after = REMOVED[case]
    assert remove_flags(before, {DRIVER: None}) == after


@pytest.mark.parametrize("case", REMOVED)
def test_a_second_edit_changes_nothing(case: str) -> None:
    after = REMOVED[case][1]
    assert remove_flags(after, {DRIVER: None}) == after


@pytest.mark.parametrize(
    "text",
    [
        "",
        "X=1\n",
        "ARGS=\n",
        'ARGS="--a --b=--cgroup-driver=systemd"\n',
        "ARGS=--a --cgroup-driver-x=systemd\n",
        "ARGS=--a cgroup-driver=systemd\n",
        "# ARGS=--cgroup-driver=systemd\n",
    ],
)
def test_a_text_without_the_flag_stays(text: str) -> None:
    assert remove_flags(text, {DRIVER: None}) == text


@pytest.mark.parametrize(
    ("text", "words_of_it"),
    [
        ("X=1\nARGS=--a --cgroup-driver\n", ("line 2", "--cgroup-driver has no value here")),
        ("ARGS=--cgroup-driver --b=1\n", ("has no value here",)),
        ("ARGS=--a='x --cgroup-driver=systemd\n", ("line 1", "quotes are not paired")),
        ("ARGS=--a=x\\\" --cgroup-driver='systemd\n", ("quotes are not paired",)),
        # The reader treats a form feed as the end of a line, the editor as whitespace between words.
        ("ARGS=--a\f--cgroup-driver=systemd\n", ("cannot be separated",)),
        ('ARGS="--a \\\n# why\n --cgroup-driver=systemd"\n', ("comment",)),
    ],
)
def test_a_flag_that_cannot_be_removed_alone_is_refused(text: str, words_of_it: tuple[str, ...]) -> None:
    with pytest.raises(UnsupportedEdit) as raised:
        remove_flags(text, {DRIVER: None})
    for word in (*words_of_it, "Remove the flag from this file by hand"):
        assert word in str(raised.value)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("ARGS=--fail-swap-on --b\n", "ARGS=--b\n"),
        ("ARGS=--fail-swap-on=false --b\n", "ARGS=--b\n"),
        # pflag does not read the next word as the value of a switch: it is a separate argument of kubelet, and stays.
        ("ARGS=--fail-swap-on false\n", "ARGS=false\n"),
    ],
)
def test_the_word_behind_a_switch_stays(before: str, after: str) -> None:
    assert remove_flags(before, {SWITCH: None}) == after


def test_several_flags_of_several_variables_are_removed_together() -> None:
    text = "A=--x --cgroup-driver=systemd\nB=--fail-swap-on --y\n"
    desired: dict[tuple[str, ...], None] = {
        ("cgroupDriver", "--cgroup-driver", "A"): None,
        ("failSwapOn", "--fail-swap-on", "B"): None,
    }
    assert remove_flags(text, desired) == "A=--x\nB=--y\n"


WORD = st.sampled_from(["--a=1", "--b", "--node-ip=10.0.0.7", "--c='x y'", "--d=e,f", "--v=2", "--cgroup-driver-x=1"])
FLAG = st.sampled_from(["--cgroup-driver=systemd", "--cgroup-driver cgroupfs", "--cgroup_driver='systemd'"])
WHITESPACE = st.sampled_from([" ", "  ", "\t", " \\\n", " \\\n  "])
QUOTE = st.sampled_from(["", '"'])


@given(st.lists(st.one_of(WORD, FLAG), max_size=8), WHITESPACE, QUOTE, st.sampled_from(["", "\n", "\nX=1\n"]))
@settings(max_examples=300, deadline=None)
def test_only_the_flag_is_removed(line: list[str], whitespace: str, quote: str, tail: str) -> None:
    text = f"Y=0\nARGS={quote}{whitespace.join(line)}{quote}{tail}"
    after = remove_flags(text, {DRIVER: None})
    remaining = [
        word
        for argument in line
        if not argument.startswith(("--cgroup-driver=", "--cgroup-driver ", "--cgroup_driver"))
        for word in split_words(argument)
    ]
    assert split_words(parse_environment(after)["ARGS"]) == remaining
    assert {**parse_environment(after), "ARGS": ""} == {**parse_environment(text), "ARGS": ""}
    assert (after == text) is (len(remaining) == len(split_words(parse_environment(text)["ARGS"])))
    assert remove_flags(after, {DRIVER: None}) == after
