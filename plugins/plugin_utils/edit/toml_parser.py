# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The TOML parser of this controller, and the limits of nested values that are walked."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from .text_errors import library

MAX_DEPTH = 100
"""A node is less trusted than the controller: values of its files that are nested deeper are refused."""


def parse_toml(text: str) -> dict[str, Any]:
    """The tables of a text; ValueError in the parser's own words, RecursionError for values that are nested deeply."""
    document: dict[str, Any] = _parser().loads(text)
    require_shallow(document)
    return document


def require_shallow(document: Any) -> None:
    """RecursionError for values that are nested too deeply to walk; dotted keys can do that in one line."""
    level: list[Any] = [document]
    for _depth in range(MAX_DEPTH):
        inner = [value.values() if isinstance(value, dict) else value for value in level]
        level = [value for values in inner for value in values if isinstance(value, (dict, list))]
        if not level:
            return
    raise RecursionError


def _parser() -> ModuleType:
    """tomllib, or on Python 3.10, which ansible-core 2.17 still supports, the package tomli that it is based on."""
    try:
        return importlib.import_module("tomllib")
    except ImportError:
        return library("tomli")
