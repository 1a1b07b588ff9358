# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The base class of all errors for users: what failed, where, and what to do about it."""

from __future__ import annotations


class ColocationError(Exception):
    """A failure with its remedy. ``file`` and ``line`` are the location, if there is one."""

    def __init__(self, message: str, remedy: str = "", file: str | None = None, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.file = file
        self.line = line

    def __str__(self) -> str:
        place = ""
        if self.file is not None:
            place = self.file + ": " if self.line is None else f"{self.file}:{self.line}: "
        text = place + self.message
        return f"{text.rstrip('.')}. {self.remedy}" if self.remedy else text
