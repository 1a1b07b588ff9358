# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""On which line of a TOML file a key stands."""

from __future__ import annotations

from ..edit.changes import Path
from ..edit.lines import BOM, line_number
from ..edit.toml_layout import Layout


def key_line(text: str, path: Path) -> int:
    """The line of the key, of the first thing below it, or of the innermost thing around it; letter case aside."""
    body = text.removeprefix(BOM)
    layout = Layout.of(body)
    starts = [(_plain(each.path), each.start) for each in layout.tables]
    starts += [(_plain(each.path), each.key_start) for each in layout.settings]
    own = dict(reversed(starts))
    below: dict[Path, int] = {}
    for found, start in starts:
        for length in range(1, len(found)):
            below[found[:length]] = min(start, below.get(found[:length], start))
    places = {**below, **own}
    wanted = _plain(path)
    known = next(wanted[:length] for length in range(len(wanted), -1, -1) if wanted[:length] in places)
    return line_number(body, places[known])


def _plain(path: Path) -> Path:
    return tuple(key.casefold() for key in path)
