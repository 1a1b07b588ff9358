# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""HPACK (RFC 7541) with Huffman code: encodes headers in the simplest form, decodes all forms."""

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


def _canonical_codes() -> dict[tuple[int, int], int]:
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


_SYMBOLS = _canonical_codes()


def decode_huffman(data: bytes) -> bytes:
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


# Appendix A.
STATIC_TABLE = (
    (":authority", ""),
    (":method", "GET"),
    (":method", "POST"),
    (":path", "/"),
    (":path", "/index.html"),
    (":scheme", "http"),
    (":scheme", "https"),
    (":status", "200"),
    (":status", "204"),
    (":status", "206"),
    (":status", "304"),
    (":status", "400"),
    (":status", "404"),
    (":status", "500"),
    ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"),
    ("accept-language", ""),
    ("accept-ranges", ""),
    ("accept", ""),
    ("access-control-allow-origin", ""),
    ("age", ""),
    ("allow", ""),
    ("authorization", ""),
    ("cache-control", ""),
    ("content-disposition", ""),
    ("content-encoding", ""),
    ("content-language", ""),
    ("content-length", ""),
    ("content-location", ""),
    ("content-range", ""),
    ("content-type", ""),
    ("cookie", ""),
    ("date", ""),
    ("etag", ""),
    ("expect", ""),
    ("expires", ""),
    ("from", ""),
    ("host", ""),
    ("if-match", ""),
    ("if-modified-since", ""),
    ("if-none-match", ""),
    ("if-range", ""),
    ("if-unmodified-since", ""),
    ("last-modified", ""),
    ("link", ""),
    ("location", ""),
    ("max-forwards", ""),
    ("proxy-authenticate", ""),
    ("proxy-authorization", ""),
    ("range", ""),
    ("referer", ""),
    ("refresh", ""),
    ("retry-after", ""),
    ("server", ""),
    ("set-cookie", ""),
    ("strict-transport-security", ""),
    ("transfer-encoding", ""),
    ("user-agent", ""),
    ("vary", ""),
    ("via", ""),
    ("www-authenticate", ""),
)
ENTRY_OVERHEAD = 32
"""Octets counted per entry of the dynamic table beside name and value (section 4.1)."""
INTEGER_LIMIT = 1 << 32


class HpackError(ValueError):
    """A header block that does not follow RFC 7541."""


def encode_integer(value: int, prefix: int, first: int = 0) -> bytes:
    """``value`` with a ``prefix`` bits wide prefix (section 5.1); ``first`` holds the other bits of octet one."""
    most = (1 << prefix) - 1
    if value < most:
        return bytes([first | value])
    encoded = bytearray([first | most])
    value -= most
    while value >= 128:
        encoded.append(value & 127 | 128)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def encode(headers: list[tuple[str, str]]) -> bytes:
    """A header block of literal fields without indexing (section 6.2.2), no Huffman code, no state."""
    block = bytearray()
    for name, value in headers:
        block.append(0)
        for text in (name.encode("ascii"), value.encode("ascii")):
            block += encode_integer(len(text), 7) + text
    return bytes(block)


class Decoder:
    """The receiving side of one connection; header blocks must be decoded in the order of their arrival."""

    def __init__(self, table_size: int = 4096) -> None:
        self._limit = table_size
        self._size_limit = table_size
        self._entries: list[tuple[str, str]] = []
        self._size = 0

    @property
    def table_size(self) -> int:
        """Octets in the dynamic table as section 4.1 counts them."""
        return self._size

    def decode(self, block: bytes) -> list[tuple[str, str]]:
        """The headers of one complete block."""
        reader = _Reader(block)
        headers = []
        while reader.more():
            first = reader.peek()
            if first & 0x80:
                headers.append(self._entry(reader.integer(7)))
            elif first & 0xC0 == 0x40:
                headers.append(self._remember(self._literal(reader, 6)))
            elif first & 0xE0 == 0x20:
                self._resize(reader.integer(5))
            else:
                headers.append(self._literal(reader, 4))
        return headers

    def _literal(self, reader: _Reader, prefix: int) -> tuple[str, str]:
        index = reader.integer(prefix)
        name = self._entry(index)[0] if index else reader.string()
        return name, reader.string()

    def _entry(self, index: int) -> tuple[str, str]:
        if 1 <= index <= len(STATIC_TABLE):
            return STATIC_TABLE[index - 1]
        if len(STATIC_TABLE) < index <= len(STATIC_TABLE) + len(self._entries):
            return self._entries[index - len(STATIC_TABLE) - 1]
        raise HpackError(f"no header with index {index}")

    def _remember(self, header: tuple[str, str]) -> tuple[str, str]:
        self._entries.insert(0, header)
        self._size += _entry_size(header)
        self._evict()
        return header

    def _resize(self, limit: int) -> None:
        if limit > self._size_limit:
            raise HpackError(f"dynamic table of {limit} octets is over the limit")
        self._limit = limit
        self._evict()

    def _evict(self) -> None:
        while self._size > self._limit:
            self._size -= _entry_size(self._entries.pop())


def _entry_size(header: tuple[str, str]) -> int:
    return len(header[0]) + len(header[1]) + ENTRY_OVERHEAD


class _Reader:
    """A cursor over a header block. Text is Latin-1 so that every octet survives."""

    def __init__(self, block: bytes) -> None:
        self._block = block
        self._at = 0

    def more(self) -> bool:
        return self._at < len(self._block)

    def peek(self) -> int:
        if not self.more():
            raise HpackError("header block ends too early")
        return self._block[self._at]

    def _octet(self) -> int:
        octet = self.peek()
        self._at += 1
        return octet

    def integer(self, prefix: int) -> int:
        most = (1 << prefix) - 1
        value = self._octet() & most
        if value < most:
            return value
        shift = 0
        while True:
            octet = self._octet()
            value += (octet & 127) << shift
            shift += 7
            if value > INTEGER_LIMIT:
                raise HpackError("integer is too large")
            if not octet & 128:
                return value

    def string(self) -> str:
        coded = self.peek() & 0x80
        length = self.integer(7)
        text = self._block[self._at : self._at + length]
        if len(text) < length:
            raise HpackError("header block ends too early")
        self._at += length
        if not coded:
            return text.decode("latin-1")
        try:
            return decode_huffman(text).decode("latin-1")
        except ValueError as error:
            raise HpackError("wrong Huffman-coded string") from error
