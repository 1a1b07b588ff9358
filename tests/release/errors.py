# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The error of `make release`."""

from __future__ import annotations


class ReleaseError(Exception):
    """A release cannot be made; the message has the remedy."""
