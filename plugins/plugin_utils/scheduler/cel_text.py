# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Python values as literals of CEL, the language of admission policies."""

from __future__ import annotations

from collections.abc import Sequence


def cel_string(text: str) -> str:
    """A CEL string literal."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def cel_list(texts: Sequence[str]) -> str:
    """A CEL list of strings."""
    return "[" + ", ".join(map(cel_string, texts)) + "]"
