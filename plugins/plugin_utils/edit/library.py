# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parsers are imported when they are used: ansible-test imports every file without them, and most runs edit nothing."""

from __future__ import annotations

import importlib
from types import ModuleType

from .errors import MissingLibrary

REQUIREMENTS = {"yaml": "PyYAML", "ruamel.yaml": "ruamel.yaml>=0.18", "tomlkit": "tomlkit>=0.13"}


def library(name: str) -> ModuleType:
    """The imported module; MissingLibrary names what to install."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingLibrary(name, REQUIREMENTS[name]) from error
