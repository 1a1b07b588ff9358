# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The parsers, which the controller may lack: ansible-test imports every file without them."""

from __future__ import annotations

import contextlib
import importlib
from types import ModuleType

from .errors import MissingLibrary

REQUIREMENTS = {"yaml": "PyYAML", "tomli": "tomli>=2.0"}


def library(name: str) -> ModuleType:
    """The imported module; MissingLibrary names what to install."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingLibrary(name, REQUIREMENTS[name]) from error


def preload(*names: str) -> None:
    """Import what of these is there; what is missing is an error only where it is used."""
    for name in names:
        with contextlib.suppress(MissingLibrary):
            library(name)
