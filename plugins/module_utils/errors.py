# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The base class of all errors for users: what failed, where, and what to do about it."""

from __future__ import annotations

import socket

CONNECTION_FAILED = "the connection failed"
"""The reason if neither the system nor a library has one."""


def reason_of(error: BaseException) -> str:
    """Why the system or a library failed, in the system's words and without the number and the name of a class."""
    cause = getattr(error, "reason", error)
    if isinstance(cause, socket.timeout):
        return "no response in time"
    return str(getattr(cause, "strerror", None) or CONNECTION_FAILED)


class InvalidValue(ValueError):
    """A value that is not accepted. The message is written for users; the caller names the option and the file."""


def value_problem(error: ValueError) -> str:
    """What is wrong with a value: the message of InvalidValue, and words for what Python raises."""
    return str(error) if isinstance(error, InvalidValue) else "it cannot be read as a value"


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
