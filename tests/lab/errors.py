# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What can go wrong in the lab, said to a person: the command line prints it without a traceback."""

from __future__ import annotations


class LabError(Exception):
    """A message that says what happened and what to do about it."""


class SpecError(LabError):
    """A node that cannot be built as asked for."""
