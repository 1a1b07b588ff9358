# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The edits of docs/walkthroughs.md, and how they are applied to a copy of the checkout.

An edit is a fenced block of the language ``diff``. Its first line is ``+++`` and a file. Of the other lines those with
``+`` are added, those with ``-`` are deleted, and the others are context; a line ``@@`` begins another place of the
same file. A block with added lines only makes a new file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.volcano.colocation.tests.run.places import CHECKOUT

PAGE = CHECKOUT / "docs" / "walkthroughs.md"

_BLOCK = re.compile(r"^```diff\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)


class BadEdit(ValueError):
    """A block that is not an edit, or whose lines do not occur in the file exactly once."""


@dataclass(frozen=True)
class Edit:
    """One place of a file. ``before`` is empty for a new file."""

    file: str
    before: str
    after: str


def headings(page: str) -> tuple[str, ...]:
    return tuple(_HEADING.findall(page))


def section(page: str, heading: str) -> str:
    """Return the text below a heading; BadEdit if the page does not have it."""
    parts = _HEADING.split(page)
    texts = dict(zip(parts[1::2], parts[2::2], strict=True))
    if heading not in texts:
        raise BadEdit(f"there is no heading {heading!r}; the page has {', '.join(texts) or 'none'}")
    return texts[heading]


def edits(page: str, heading: str) -> tuple[Edit, ...]:
    """The edits of one walkthrough, in their order."""
    return tuple(edit for block in _BLOCK.findall(section(page, heading)) for edit in _edits_of(block))


def _edits_of(block: str) -> list[Edit]:
    first, *lines = block.splitlines()
    mark, _space, file = first.partition(" ")
    if mark != "+++" or not file:
        raise BadEdit(f"the first line of a block is {first!r}, not +++ and a file")
    places: list[list[str]] = [[]]
    for line in lines:
        if line == "@@":
            places.append([])
        else:
            places[-1].append(line or " ")
    return [Edit(file, _text(place, " -"), _text(place, " +")) for place in places]


def _text(lines: list[str], marks: str) -> str:
    return "".join(f"{line[1:]}\n" for line in lines if line[0] in marks)


def apply(edit: Edit, root: Path) -> None:
    """Apply the edit below ``root``; BadEdit unless its lines occur there exactly once."""
    path = root / edit.file
    if not edit.before:
        if path.exists():
            raise BadEdit(f"{edit.file} exists already, and the edit has no context line of it")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(edit.after, encoding="utf-8")
        return
    if not path.is_file():
        raise BadEdit(f"there is no file {edit.file}")
    lines = re.compile(f"^{re.escape(edit.before)}", re.MULTILINE)
    text, count = lines.subn(lambda _: edit.after, path.read_text(encoding="utf-8"))
    if count != 1:
        raise BadEdit(f"{count} places of {edit.file} have these lines:\n{edit.before}")
    path.write_text(text, encoding="utf-8")
