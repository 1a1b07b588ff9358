# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Output of busctl. Format: systemd src/busctl/busctl.c format_cmdline(), src/basic/escape.c cescape()."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.systemd.dbus_values import (
    INFINITY,
    Property,
    UnreadableReply,
    arguments,
    decode,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("t 18446744073709551615\n", INFINITY),
        ("b true\n", True),
        ("b false\n", False),
        ('s ""\n', ""),
        (r's "a\"b\\c\nd\303\251"' + "\n", 'a"b\\c\ndé'),
        ('s "it\\\'s"\n', "it's"),
        ("ay 0\n", b""),
        ("ay 2 15 128\n", b"\x0f\x80"),
        ('as 2 "x y" "z"\n', ("x y", "z")),
        ('a(st) 1 "/dev/vda" 1048576\n', (("/dev/vda", 1048576),)),
        ('(uo) 7 "/a"\n', (7, "/a")),
        ('v s "in"\n', "in"),
        ("d 2.5\n", 2.5),
        ('a{sv} 2 "A" t 1 "B" a(sas) 1 "c" 2 "d" "e"\n', {"A": 1, "B": (("c", ("d", "e")),)}),
    ],
)
def test_values_are_decoded(text: str, value: Any) -> None:
    assert decode(text) == value


@pytest.mark.parametrize("text", ["", "t", 'as 2 "x"', "b yes", "a{sv 1", "t one", "a 1", "? 1"])
def test_an_invalid_text_is_an_error(text: str) -> None:
    with pytest.raises(UnreadableReply, match="busctl"):
        decode(text)


@pytest.mark.parametrize(
    ("property_", "words"),
    [
        (Property("CPUWeight", "t", INFINITY), ["t", "18446744073709551615"]),
        (Property("TasksAccounting", "b", True), ["b", "true"]),
        (Property("TasksAccounting", "b", False), ["b", "false"]),
        (Property("CPUSetPartition", "s", "root"), ["s", "root"]),
        (Property("AllowedCPUs", "ay", b"\x03\x01"), ["ay", "2", "3", "1"]),
        (Property("AllowedCPUs", "ay", b""), ["ay", "0"]),
        (Property("IOReadBandwidthMax", "a(st)", (("/dev/vda", 5),)), ["a(st)", "1", "/dev/vda", "5"]),
        (Property("IOReadBandwidthMax", "a(st)", ()), ["a(st)", "0"]),
    ],
)
def test_values_are_encoded(property_: Property, words: list[str]) -> None:
    assert arguments(property_) == words
