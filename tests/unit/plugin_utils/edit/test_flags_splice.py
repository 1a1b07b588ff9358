# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Flags taken out of environment files: both forms, repeated, quoted, over several lines; every other byte stays."""

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

TAKEN = {
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
    "blanks of all kinds": ("ARGS=--a \t--cgroup-driver=systemd \t --b  \n", "ARGS=--a \t--b  \n"),
    "no line end": ("ARGS=--a --cgroup-driver=systemd", "ARGS=--a"),
    "carriage returns": ('X=1\r\nARGS="--a --cgroup-driver=systemd"\r\nY=2\r\n', 'X=1\r\nARGS="--a"\r\nY=2\r\n'),
    "a line of its own": (
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


@pytest.mark.parametrize("case", TAKEN)
def test_a_flag_is_taken_out(case: str) -> None:
    before, after = TAKEN[case]
    assert remove_flags(before, {DRIVER: None}) == after


@pytest.mark.parametrize("case", TAKEN)
def test_a_second_edit_changes_nothing(case: str) -> None:
    after = TAKEN[case][1]
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
        # A form feed ends a line for the reader, and is a blank between words for us.
        ("ARGS=--a\f--cgroup-driver=systemd\n", ("cannot be separated",)),
        ('ARGS="--a \\\n# why\n --cgroup-driver=systemd"\n', ("comment",)),
    ],
)
def test_what_cannot_be_taken_out_alone_is_left(text: str, words_of_it: tuple[str, ...]) -> None:
    with pytest.raises(UnsupportedEdit) as raised:
        remove_flags(text, {DRIVER: None})
    for word in (*words_of_it, "Remove the flag from this file by hand"):
        assert word in str(raised.value)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("ARGS=--fail-swap-on --b\n", "ARGS=--b\n"),
        ("ARGS=--fail-swap-on=false --b\n", "ARGS=--b\n"),
        # pflag gives a switch no following word: it is an argument of kubelet's own, and stays.
        ("ARGS=--fail-swap-on false\n", "ARGS=false\n"),
    ],
)
def test_a_switch_has_no_word_behind_it(before: str, after: str) -> None:
    assert remove_flags(before, {SWITCH: None}) == after


def test_several_flags_of_several_variables_are_taken_out_at_once() -> None:
    text = "A=--x --cgroup-driver=systemd\nB=--fail-swap-on --y\n"
    desired: dict[tuple[str, ...], None] = {
        ("cgroupDriver", "--cgroup-driver", "A"): None,
        ("failSwapOn", "--fail-swap-on", "B"): None,
    }
    assert remove_flags(text, desired) == "A=--x\nB=--y\n"


WORD = st.sampled_from(["--a=1", "--b", "--node-ip=10.0.0.7", "--c='x y'", "--d=e,f", "--v=2", "--cgroup-driver-x=1"])
FLAG = st.sampled_from(["--cgroup-driver=systemd", "--cgroup-driver cgroupfs", "--cgroup_driver='systemd'"])
BLANK = st.sampled_from([" ", "  ", "\t", " \\\n", " \\\n  "])
QUOTE = st.sampled_from(["", '"'])


@given(st.lists(st.one_of(WORD, FLAG), max_size=8), BLANK, QUOTE, st.sampled_from(["", "\n", "\nX=1\n"]))
@settings(max_examples=300, deadline=None)
def test_nothing_but_the_flag_goes(line: list[str], whitespace: str, quote: str, tail: str) -> None:
    text = f"Y=0\nARGS={quote}{whitespace.join(line)}{quote}{tail}"
    after = remove_flags(text, {DRIVER: None})
    remaining = [
        word
        for each in line
        if not each.startswith(("--cgroup-driver=", "--cgroup-driver ", "--cgroup_driver"))
        for word in split_words(each)
    ]
    assert split_words(parse_environment(after)["ARGS"]) == remaining
    assert {**parse_environment(after), "ARGS": ""} == {**parse_environment(text), "ARGS": ""}
    assert (after == text) is (len(remaining) == len(split_words(parse_environment(text)["ARGS"])))
    assert remove_flags(after, {DRIVER: None}) == after
