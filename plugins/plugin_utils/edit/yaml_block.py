# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""New lines of YAML, indented as the lines that are there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .changes import Edit, Item, Todo
from .yaml_nodes import Kind, Node, block_mappings, column
from .yaml_scalar import key_text, value_text


@dataclass(frozen=True)
class Style:
    """The text, and the columns by which it indents a nested mapping and the dashes of a list."""

    text: str
    mapping: int
    dash: int

    @classmethod
    def of(cls, text: str, root: Node | None) -> Style:
        """As the first nested mapping and the first list; two columns and none where there are none."""
        steps: dict[Kind, int] = {}
        for outer in block_mappings(root) if root else ():
            for node in (entry.node for entry in outer.entries if not entry.node.flow):
                steps.setdefault(node.kind, column(text, node) - column(text, outer))
        return cls(text, steps.get(Kind.MAPPING, 2), steps.get(Kind.SEQUENCE, 0))

    def lines(self, todo: Todo | Mapping[str, Item], indent: int, end: str) -> str:
        """The keys of ``todo`` as a new block."""
        return "".join(self._key_lines(key, want, indent, end) for key, want in todo.items())

    def dashes(self, items: Sequence[Item], indent: int, end: str) -> str:
        """A block list."""
        return "".join(self._item_lines(item, indent, end) for item in items)

    def _key_lines(self, key: str, want: Todo | Edit | Item, indent: int, end: str) -> str:
        head = f"{' ' * indent}{key_text(key)}:"
        if isinstance(want, Mapping) and want:
            return head + end + self.lines(want, indent + self.mapping, end)
        if isinstance(want, list) and want:
            return head + end + self.dashes(want, indent + self.dash, end)
        return f"{head} {value_text(want)}{end}"

    def _item_lines(self, item: Item, indent: int, end: str) -> str:
        if isinstance(item, Mapping) and item:
            block = self.lines(item, indent + 2, end)
            return f"{' ' * indent}- {block[indent + 2 :]}"
        return f"{' ' * indent}- {value_text(item)}{end}"
