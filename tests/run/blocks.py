# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Generated blocks between two comments, in files that are otherwise written by hand."""

from __future__ import annotations

import re


class NoBlock(ValueError):
    """The file has no pair of comments around the generated block, or more than one."""


def replace_block(text: str, begin: str, content: str, end: str) -> str:
    """The text with ``content`` between the one ``begin`` and the next ``end``."""
    block = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    replaced, count = block.subn(lambda _: f"{begin}{content}{end}", text)
    if count != 1:
        raise NoBlock(f"{count} blocks from {begin.strip()!r} to {end.strip()!r}")
    return replaced
