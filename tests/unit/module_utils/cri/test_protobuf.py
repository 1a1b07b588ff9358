# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as some

from ansible_collections.volcano.colocation.plugins.module_utils.cri import protobuf
from ansible_collections.volcano.colocation.plugins.module_utils.cri.protobuf import Fields, ProtobufError


def test_the_examples_of_the_format_description_are_read_and_written() -> None:
    """protobuf.dev, "Encoding": Test1 {a: 150}, Test2 {b: "testing"}, Test3 {c: {a: 150}}."""
    assert Fields(bytes.fromhex("089601")).number(1) == 150
    assert Fields(bytes.fromhex("120774657374696e67")).text(2) == "testing"
    assert Fields(bytes.fromhex("1a03089601")).message(3).number(1) == 150
    assert protobuf.text_field(2, "testing").hex() == "120774657374696e67"
    assert protobuf.true_field(1).hex() == "0801"


def test_absent_fields_have_their_defaults() -> None:
    empty = Fields(b"")
    assert (empty.number(1), empty.text(2), empty.messages(3), empty.text_map(4)) == (0, "", [], {})
    assert empty.message(5).text(1) == ""
    assert protobuf.text_field(1, "") == b""


def test_unknown_fields_of_every_wire_type_are_passed_over() -> None:
    data = bytes.fromhex("f90f0102030405060708" + "fd0f01020304" + "0801")
    assert Fields(data).number(1) == 1


def test_the_last_value_counts() -> None:
    assert Fields(bytes.fromhex("08010802")).number(1) == 2


@given(some.integers(min_value=1, max_value=2**28), some.text(max_size=300))
def test_text_survives(number: int, value: str) -> None:
    value = value.encode("utf-8", "ignore").decode()
    assert Fields(protobuf.text_field(number, value)).text(number) == value


@given(some.binary(max_size=80))
def test_garbage_is_refused_or_read_but_never_crashes(data: bytes) -> None:
    with suppress(ProtobufError):
        Fields(data).messages(1)


@pytest.mark.parametrize("data", ["08", "0880", "120561", "0b", "08" + "80" * 11])
def test_broken_messages_are_refused(data: str) -> None:
    with pytest.raises(ProtobufError):
        Fields(bytes.fromhex(data))


def test_a_field_of_another_kind_is_refused() -> None:
    with pytest.raises(ProtobufError, match="not a string"):
        Fields(bytes.fromhex("0801")).text(1)
    with pytest.raises(ProtobufError, match="not a number"):
        Fields(bytes.fromhex("0a0161")).number(1)
