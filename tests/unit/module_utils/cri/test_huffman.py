# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from ansible_collections.volcano.colocation.plugins.module_utils.cri import hpack


def encode(text: bytes) -> bytes:
    """An encoder, derived from the table."""
    codes = {symbol: code for code, symbol in hpack._SYMBOLS.items()}
    bits = "".join(format(code, f"0{length}b") for length, code in (codes[byte] for byte in text))
    bits += "1" * (-len(bits) % 8)
    return bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits), 8))


# RFC 7541, appendix C.4 and C.6.
@pytest.mark.parametrize(
    ("coded", "text"),
    [
        ("f1e3c2e5f23a6ba0ab90f4ff", b"www.example.com"),
        ("a8eb10649cbf", b"no-cache"),
        ("25a849e95ba97d7f", b"custom-key"),
        ("25a849e95bb8e8b4bf", b"custom-value"),
        ("6402", b"302"),
        ("aec3771a4b", b"private"),
        ("d07abe941054d444a8200595040b8166e082a62d1bff", b"Mon, 21 Oct 2013 20:13:21 GMT"),
        ("9d29ad171863c78f0b97c8e9ae82ae43d3", b"https://www.example.com"),
        ("640eff", b"307"),
        ("9bd9ab", b"gzip"),
        (
            "94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007",
            b"foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
        ),
    ],
)
def test_the_examples_of_the_rfc_are_decoded(coded: str, text: bytes) -> None:
    assert hpack.decode_huffman(bytes.fromhex(coded)) == text


@given(some.binary(max_size=200))
def test_every_octet_survives(text: bytes) -> None:
    assert hpack.decode_huffman(encode(text)) == text


def test_the_code_is_complete() -> None:
    """Kraft: the lengths leave no code unused."""
    assert sum(2.0**-length for length in hpack.CODE_LENGTHS) == 1.0


@pytest.mark.parametrize("coded", ["ffffffff", "00" + "ff" * 2, "18", "1fffff"])
def test_wrong_padding_and_eos_are_refused(coded: str) -> None:
    with pytest.raises(ValueError, match=r"padding|EOS"):
        hpack.decode_huffman(bytes.fromhex(coded))
