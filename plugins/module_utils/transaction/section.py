# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading of JSON documents that names the field in every complaint."""

from __future__ import annotations

import re
from typing import Any

from ..errors import ColocationError


class PlanError(ColocationError):
    """A plan document that is not as agreed between the controller and the node."""


def wrong(place: str, expected: str) -> PlanError:
    """The error for one field."""
    return PlanError(
        f"the plan is not valid: {place}: expected {expected}",
        "The controller and the node must use the same version of volcano.colocation",
    )


class Section:
    """One JSON object. Every key must be asked for before ``finish``."""

    def __init__(self, document: Any, place: str) -> None:
        if not isinstance(document, dict):
            raise wrong(place or "plan", "an object")
        self._document = document
        self._asked: set[str] = set()
        self.place = place

    def at(self, key: str) -> str:
        """The full name of a key."""
        return f"{self.place}.{key}" if self.place else key

    def value(self, key: str) -> Any:
        """Whatever stands there, None when absent."""
        self._asked.add(key)
        return self._document.get(key)

    def text(self, key: str) -> str:
        """A string that is not empty."""
        value = self.value(key)
        if not isinstance(value, str) or not value:
            raise wrong(self.at(key), "a string")
        return value

    def optional_text(self, key: str) -> str | None:
        """A string that is not empty, or None."""
        return None if self.value(key) is None else self.text(key)

    def path(self, key: str) -> str:
        """An absolute path without . and .. in it."""
        return absolute(self.value(key), self.at(key))

    def choice(self, key: str, choices: tuple[str, ...]) -> str:
        """One of ``choices``."""
        value = self.value(key)
        if value not in choices:
            raise wrong(self.at(key), f"one of {', '.join(choices)}")
        return str(value)

    def number(self, key: str) -> float:
        """A number above zero."""
        value = self.value(key)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
            raise wrong(self.at(key), "a number above 0")
        return float(value)

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of strings; empty when absent."""
        entries = self._entries(key)
        if not all(isinstance(entry, str) and entry for entry in entries):
            raise wrong(self.at(key), "a list of strings")
        return tuple(entries)

    def paths(self, key: str) -> tuple[str, ...]:
        """A list of absolute paths; empty when absent."""
        entries = enumerate(self._entries(key))
        return tuple(absolute(entry, f"{self.at(key)}[{index}]") for index, entry in entries)

    def sections(self, key: str) -> tuple[Section, ...]:
        """A list of objects; empty when absent."""
        entries = enumerate(self._entries(key))
        return tuple(Section(entry, f"{self.at(key)}[{index}]") for index, entry in entries)

    def section(self, key: str) -> Section | None:
        """An object, or None when absent."""
        value = self.value(key)
        return None if value is None else Section(value, self.at(key))

    def finish(self) -> None:
        """Complain about keys nobody asked for."""
        unknown = sorted(set(self._document) - self._asked)
        if unknown:
            raise wrong(self.place or "plan", f"no key {', '.join(unknown)}")

    def _entries(self, key: str) -> list[Any]:
        value = self.value(key)
        if value is None:
            return []
        if not isinstance(value, list):
            raise wrong(self.at(key), "a list")
        return value


def absolute(value: Any, place: str) -> str:
    """``value`` when it is an absolute path without . and .. in it."""
    parts = value.split("/") if isinstance(value, str) else []
    if len(parts) < 2 or parts[0] or any(part in ("", ".", "..") for part in parts[1:]) or "\0" in value:
        raise wrong(place, "an absolute path")
    return str(value)


def encoded(text: Any, place: str) -> bytes:
    """The bytes of a file's content."""
    if not isinstance(text, str):
        raise wrong(place, "a string")
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise wrong(place, "UTF-8, other bytes as surrogate escapes") from None


def matching(text: str, pattern: re.Pattern[str], place: str, expected: str) -> str:
    """``text`` when it has the form of the pattern."""
    if not pattern.match(text):
        raise wrong(place, expected)
    return text
