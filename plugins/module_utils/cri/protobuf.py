# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of the protobuf wire format that CRI messages use (protobuf.dev, "Encoding")."""

from __future__ import annotations

VARINT = 0
FIXED64 = 1
BYTES = 2
FIXED32 = 5
VARINT_OCTETS = 10


class ProtobufError(ValueError):
    """Bytes that are not a protobuf message."""


def varint(value: int) -> bytes:
    """``value`` (not negative) as a base 128 varint."""
    encoded = bytearray()
    while value >= 128:
        encoded.append(value & 127 | 128)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def text_field(number: int, value: str) -> bytes:
    """A string field; proto3 omits the empty string."""
    data = value.encode("utf-8")
    return varint(number << 3 | BYTES) + varint(len(data)) + data if data else b""


def true_field(number: int) -> bytes:
    """A bool field that is true; proto3 omits false."""
    return varint(number << 3 | VARINT) + varint(1)


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for count in range(VARINT_OCTETS):
        if at >= len(data):
            raise ProtobufError("message ends inside a number")
        octet = data[at]
        at += 1
        value |= (octet & 127) << 7 * count
        if not octet & 128:
            return value, at
    raise ProtobufError("number is too long")


def _take(data: bytes, at: int, length: int) -> tuple[bytes, int]:
    if at + length > len(data):
        raise ProtobufError("message ends inside a field")
    return data[at : at + length], at + length


def _read_value(data: bytes, at: int, kind: int) -> tuple[int | bytes, int]:
    if kind == VARINT:
        return _read_varint(data, at)
    if kind == BYTES:
        length, at = _read_varint(data, at)
        return _take(data, at, length)
    if kind in (FIXED64, FIXED32):
        return _take(data, at, 8 if kind == FIXED64 else 4)
    raise ProtobufError(f"wire type {kind} is not known")


class Fields:
    """One decoded message: fields by number. Unknown fields are ignored, absent ones have the defaults of proto3."""

    def __init__(self, data: bytes) -> None:
        self._values: dict[int, list[int | bytes]] = {}
        at = 0
        while at < len(data):
            key, at = _read_varint(data, at)
            value, at = _read_value(data, at, key & 7)
            self._values.setdefault(key >> 3, []).append(value)

    def has(self, field: int) -> bool:
        """Whether the field was sent: the only difference between an absent message and an empty one."""
        return field in self._values

    def number(self, field: int) -> int:
        """Integer, bool or enum; the last one counts."""
        value = self._values.get(field, [0])[-1]
        if not isinstance(value, int):
            raise ProtobufError(f"field {field} is not a number")
        return value

    def text(self, field: int) -> str:
        """String; the last one counts."""
        return self._bytes(self._values.get(field, [b""])[-1], field).decode("utf-8", "replace")

    def message(self, field: int) -> Fields:
        """A message; an absent one is empty."""
        return Fields(self._bytes(self._values.get(field, [b""])[-1], field))

    def messages(self, field: int) -> list[Fields]:
        """Every message of a repeated field."""
        return [Fields(self._bytes(value, field)) for value in self._values.get(field, [])]

    def text_map(self, field: int) -> dict[str, str]:
        """A map<string, string>: on the wire a repeated message with key 1 and value 2."""
        return {entry.text(1): entry.text(2) for entry in self.messages(field)}

    @staticmethod
    def _bytes(value: int | bytes, field: int) -> bytes:
        if not isinstance(value, bytes):
            raise ProtobufError(f"field {field} is not a string or message")
        return value
