# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The packed form of a snapshot, and that it is unpacked without losses."""

from __future__ import annotations

import base64
import tracemalloc
import zlib
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.packing import (
    SIZE_LIMIT,
    NotUnpacked,
    pack,
    unpack,
)


def test_all_of_a_snapshot_arrives() -> None:
    # \udcff: a byte of a file that is not UTF-8
    snapshot = {"kubelet": {"text": "a: ü\udcff\n", "argv": ["--v=2", ""]}, "healthy": None, "seconds": 1.5}
    assert unpack(pack(snapshot)) == snapshot


def test_what_it_holds_cannot_be_read_in_passing() -> None:
    packed = pack({"text": "password: hunter2"})
    assert packed.isascii()
    assert "hunter2" not in packed
    assert "password" not in packed


def test_no_more_than_the_limit_is_ever_decompressed() -> None:
    bomb = base64.b64encode(zlib.compress(b" " * (20 * SIZE_LIMIT), 9)).decode("ascii")
    tracemalloc.start()
    try:
        with pytest.raises(NotUnpacked, match=f"more than {SIZE_LIMIT} bytes"):
            unpack(bomb)
        _now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2.5 * SIZE_LIMIT


def test_a_document_of_the_largest_size_arrives() -> None:
    text = "a" * (SIZE_LIMIT - 2)
    assert unpack(pack(text)) == text  # type: ignore[arg-type]
    with pytest.raises(NotUnpacked, match="bytes"):
        unpack(pack(text + "a"))  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [7, None, [], {"x": 1}, 1.5, True])
def test_what_is_not_a_text_is_refused(value: Any) -> None:
    with pytest.raises(NotUnpacked, match="not as a string"):
        unpack(value)


@pytest.mark.parametrize("document", [b"[" * 200_000, b"\xff", b"", b"9" * 5000, b'{"a":'])
def test_what_is_not_json_is_refused(document: bytes) -> None:
    with pytest.raises(NotUnpacked, match="did not arrive whole"):
        unpack(base64.b64encode(zlib.compress(document)).decode("ascii"))
