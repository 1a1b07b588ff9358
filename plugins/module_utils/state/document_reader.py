# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads JSON documents, with the name of the field in every error; also parses file attributes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ..errors import ColocationError


class PlanError(ColocationError):
    """A plan document that does not match the schema of controller and node."""


def invalid_field(place: str, expected: str) -> PlanError:
    """The error for one field."""
    return PlanError(
        f"the plan is not valid: {place}: expected {expected}",
        "The controller and the node must use the same version of volcano.colocation",
    )


class Section:
    """One JSON object. Every key must be read before ``finish``."""

    def __init__(self, document: Any, place: str) -> None:
        if not isinstance(document, dict):
            raise invalid_field(place or "plan", "an object")
        self._document = document
        self._read_keys: set[str] = set()
        self.place = place

    def at(self, key: str) -> str:
        """The full name of a key."""
        return f"{self.place}.{key}" if self.place else key

    def value(self, key: str) -> Any:
        """The value of a key, None if absent."""
        self._read_keys.add(key)
        return self._document.get(key)

    def text(self, key: str) -> str:
        """A non-empty string."""
        value = self.value(key)
        if not isinstance(value, str) or not value:
            raise invalid_field(self.at(key), "a string")
        return value

    def optional_text(self, key: str) -> str | None:
        """A non-empty string, or None if absent."""
        return None if self.value(key) is None else self.text(key)

    def path(self, key: str) -> str:
        """An absolute path without ``.`` and ``..``."""
        return require_absolute(self.value(key), self.at(key))

    def choice(self, key: str, choices: tuple[str, ...]) -> str:
        """One of ``choices``."""
        value = self.value(key)
        if value not in choices:
            raise invalid_field(self.at(key), f"one of {', '.join(choices)}")
        return str(value)

    def number(self, key: str) -> float:
        """A number above zero."""
        value = self.value(key)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
            raise invalid_field(self.at(key), "a number above 0")
        return float(value)

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of strings; empty if absent."""
        entries = self._entries(key)
        if not all(isinstance(entry, str) and entry for entry in entries):
            raise invalid_field(self.at(key), "a list of strings")
        return tuple(entries)

    def paths(self, key: str) -> tuple[str, ...]:
        """A list of absolute paths; empty if absent."""
        entries = enumerate(self._entries(key))
        return tuple(require_absolute(entry, f"{self.at(key)}[{index}]") for index, entry in entries)

    def sections(self, key: str) -> tuple[Section, ...]:
        """A list of objects; empty if absent."""
        entries = enumerate(self._entries(key))
        return tuple(Section(entry, f"{self.at(key)}[{index}]") for index, entry in entries)

    def section(self, key: str) -> Section | None:
        """An object, or None if absent."""
        value = self.value(key)
        return None if value is None else Section(value, self.at(key))

    def finish(self) -> None:
        """PlanError if the object has keys that were not read."""
        unknown = sorted(set(self._document) - self._read_keys)
        if unknown:
            raise invalid_field(self.place or "plan", f"no key {', '.join(unknown)}")

    def _entries(self, key: str) -> list[Any]:
        value = self.value(key)
        if value is None:
            return []
        if not isinstance(value, list):
            raise invalid_field(self.at(key), "a list")
        return value


def require_absolute(value: Any, place: str) -> str:
    """Return ``value`` if it is an absolute path without ``.`` and ``..``."""
    parts = value.split("/") if isinstance(value, str) else []
    if len(parts) < 2 or parts[0] or any(part in ("", ".", "..") for part in parts[1:]) or "\0" in value:
        raise invalid_field(place, "an absolute path")
    return str(value)


def encode_content(text: Any, place: str) -> bytes:
    """The bytes of a file's content."""
    if not isinstance(text, str):
        raise invalid_field(place, "a string")
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise invalid_field(place, "UTF-8, other bytes as surrogate escapes") from None


def require_match(text: str, pattern: re.Pattern[str], place: str, expected: str) -> str:
    """Return ``text`` if it matches the pattern."""
    if not pattern.match(text):
        raise invalid_field(place, expected)
    return text


MODE = re.compile(r"0[0-7]{3,4}\Z")
OWNER = re.compile(r"[0-9]{1,10}:[0-9]{1,10}\Z")
HEXADECIMAL = re.compile(r"([0-9a-f]{2})*\Z")


@dataclass(frozen=True)
class FileAttributes:
    """Attributes that a new content must preserve. ``xattrs`` in hexadecimal: SELinux label, ACL, capabilities."""

    mode: int
    uid: int
    gid: int
    xattrs: dict[str, str]


def parse_file_attributes(section: Section | None) -> FileAttributes | None:
    """Parse the attributes in a plan document; None if absent."""
    if section is None:
        return None
    mode = require_match(section.text("mode"), MODE, section.at("mode"), "an octal mode like 0644")
    xattrs = section.value("xattrs") or {}
    if not isinstance(xattrs, dict) or not all(_is_hexadecimal(value) for value in xattrs.values()):
        raise invalid_field(section.at("xattrs"), "an object of hexadecimal strings")
    uid, gid = require_match(section.text("owner"), OWNER, section.at("owner"), "UID:GID").split(":")
    attributes = FileAttributes(int(mode, 8), int(uid), int(gid), xattrs)
    section.finish()
    return attributes


def _is_hexadecimal(value: object) -> bool:
    return isinstance(value, str) and HEXADECIMAL.match(value) is not None
