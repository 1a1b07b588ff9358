# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors of the lab, which the command line prints without a traceback."""

from __future__ import annotations


class LabError(Exception):
    """An error whose message says what happened and what to do."""


class UnavailableError(LabError):
    """This machine lacks something that a command needs: a program, Go, an engine, a privilege."""


class SpecError(LabError):
    """A node specification that cannot be built."""


def prefixed(subject: str, error: Exception) -> LabError:
    """The error with its subject before its message; an UnavailableError keeps its type."""
    kind = UnavailableError if isinstance(error, UnavailableError) else LabError
    return kind(f"{subject}: {error}")
