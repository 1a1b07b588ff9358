# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A desired value that no node can have."""

from __future__ import annotations


class ProfileError(ValueError):
    """``variable`` is the option that holds the value."""

    def __init__(self, variable: str, message: str) -> None:
        super().__init__(f"{variable}: {message}")
        self.variable = variable
