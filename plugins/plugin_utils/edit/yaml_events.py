# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The parse events of a YAML text, one after the other.

Unlike a composer they need no stack of C frames for a hostile text, and libyaml makes them fifty times as fast as a
parser in Python does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .library import library


class Events:
    """A text that is being parsed; ``end`` is the index behind the collection that was left last."""

    def __init__(self, text: str) -> None:
        self.yaml = library("yaml")
        self.end = 0
        self._next = getattr(self.yaml, "CSafeLoader", self.yaml.SafeLoader)(text).get_event
        self._ends = (self.yaml.SequenceEndEvent, self.yaml.MappingEndEvent)

    def following(self) -> Any:
        """The next event."""
        return self._next()

    def root(self) -> Any | None:
        """The event that begins the first document's value; None when there is no document."""
        self._next()
        start = self._next()
        return None if isinstance(start, self.yaml.StreamEndEvent) else self._next()

    def members(self) -> Iterator[Any]:
        """The events that begin the items or keys of the collection that was entered; its user takes what they hold."""
        event = self._next()
        while not isinstance(event, self._ends):
            yield event
            event = self._next()
        self.end = event.end_mark.index

    def is_scalar(self, event: Any) -> bool:
        return isinstance(event, self.yaml.ScalarEvent)

    def is_alias(self, event: Any) -> bool:
        return isinstance(event, self.yaml.AliasEvent)

    def is_mapping(self, event: Any) -> bool:
        return isinstance(event, self.yaml.MappingStartEvent)
