# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The line of a kubelet file on which a value stands."""

from __future__ import annotations

from collections.abc import Sequence

from .json_nodes import located_json
from .kubelet_syntax import begins_as_json
from .lines import line_number
from .splice import Envelope
from .yaml_nodes import Node, located


def line_of(text: str, path: Sequence[str | int]) -> int | None:
    """The line of the key or item at the end of a path, or of the last one above it that is written there."""
    _mark, body = Envelope.of(text)
    node = located_json(body) if begins_as_json(text) else located(body)
    at = None
    for part in path:
        at, node = _inner(node, part, at)
    return None if at is None else line_number(body, at)


def _inner(node: Node | None, part: str | int, at: int | None) -> tuple[int | None, Node | None]:
    if node is None:
        return at, None
    if isinstance(part, int):
        item = node.items[part] if part < len(node.items) else None
        return (item.start, item) if item else (at, None)
    # Of a repeated key the last one counts.
    entry = next((entry for entry in reversed(node.entries) if entry.key == part), None)
    return (entry.key_start, entry.node) if entry else (at, None)
