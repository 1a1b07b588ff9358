# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What can go wrong in the lab, said to a person: the command line prints it without a traceback."""

from __future__ import annotations


class LabError(Exception):
    """A message that says what happened and what to do about it."""


class UnavailableError(LabError):
    """Something that a command needs and this machine lacks: a program, Go, an engine, a privilege."""


class SpecError(LabError):
    """A node that cannot be built as asked for."""


def prefixed(subject: str, error: Exception) -> LabError:
    """The error with its subject before its message; what the machine lacks stays an UnavailableError."""
    kind = UnavailableError if isinstance(error, UnavailableError) else LabError
    return kind(f"{subject}: {error}")
