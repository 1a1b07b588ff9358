# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is told of an exception."""

from __future__ import annotations

from ..errors import ColocationError
from .files import refused
from .store import STATE_FOLDER


def in_words(error: Exception) -> str:
    """Ours speak for themselves; of others only the kind is told, because their text may quote anything."""
    if isinstance(error, ColocationError):
        return str(error)
    if isinstance(error, OSError):
        return str(refused(error, str(error.filename or STATE_FOLDER), "use it"))
    return f"unexpected {type(error).__name__}"
