# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What somebody else has changed in a file, as a person is shown it: a difference, redacted and not too long."""

from __future__ import annotations

import difflib

from ..module_utils.safe_text import printable
from .redact import redact_text

SHOWN_LINES = 60
"""More is no help at three in the morning."""
HIDDEN = "(what differs is hidden here, because it looks like a secret)"


def difference(one: str | None, other: str | None, one_name: str, other_name: str) -> str:
    """A unified difference of two texts, None for a file that is not there; empty where they are the same."""
    if one == other:
        return ""
    # Printable first: only newlines are ends of lines then, and a changed carriage return is a change that is shown.
    before, after = (printable(redact_text(text or "")).splitlines() for text in (one, other))
    lines = list(difflib.unified_diff(before, after, one_name, other_name, lineterm=""))
    if not lines and one and other:
        return HIDDEN
    more = [f"({len(lines) - SHOWN_LINES} more lines)"] if len(lines) > SHOWN_LINES else []
    return "\n".join([*lines[:SHOWN_LINES], *more])
