# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values as plain builtins: ansible-core 2.19 hands over tagged strings, older ones unsafe text; YAML refuses both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def untagged(value: Any) -> Any:
    """The same value made of exact str, int, float, bool, list and dict."""
    if isinstance(value, Mapping):
        return {untagged(key): untagged(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [untagged(each) for each in value]
    if value is None or isinstance(value, bool):
        return value
    for kind in (int, float):
        if isinstance(value, kind):
            return kind(value)
    return str.__str__(value) if isinstance(value, str) else value
