# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Huffman code of HPACK (RFC 7541, section 5.2 and appendix B), decoding only."""

from __future__ import annotations

# Code lengths in bits of the 256 octets and of EOS. Appendix B says that the code is canonical, so that
# the lengths are the whole table.
CODE_LENGTHS = (
    *(13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28),
    *(28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28),
    *(6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6),
    *(5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10),
    *(13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7),
    *(7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6),
    *(15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5),
    *(6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28),
    *(20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23),
    *(24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24),
    *(22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23),
    *(21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23),
    *(26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25),
    *(19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27),
    *(20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23),
    *(26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26),
    30,
)
EOS = 256
LONGEST_PADDING = 7


def _codes() -> dict[tuple[int, int], int]:
    """{(length, code): symbol}; within one length codes count up in the order of the symbols."""
    symbols = {}
    code = 0
    previous = 0
    for length, symbol in sorted((length, symbol) for symbol, length in enumerate(CODE_LENGTHS)):
        code <<= length - previous
        symbols[(length, code)] = symbol
        code += 1
        previous = length
    return symbols


_SYMBOLS = _codes()


def decode(data: bytes) -> bytes:
    """The octets behind Huffman-coded ``data``; ValueError for EOS or wrong padding (section 5.2)."""
    decoded = bytearray()
    length = 0
    code = 0
    for byte in data:
        for shift in range(7, -1, -1):
            code = code << 1 | byte >> shift & 1
            length += 1
            symbol = _SYMBOLS.get((length, code))
            if symbol is None:
                continue
            if symbol == EOS:
                raise ValueError("EOS inside a Huffman-coded string")
            decoded.append(symbol)
            length = code = 0
    if length > LONGEST_PADDING or code != (1 << length) - 1:
        raise ValueError("wrong padding of a Huffman-coded string")
    return bytes(decoded)
