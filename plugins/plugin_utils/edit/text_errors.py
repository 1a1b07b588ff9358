# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors of reading and editing a configuration text, and the import of parsers that the controller may lack.

No message quotes a value: it may be a secret. ansible-test imports every file without the parsers.
"""

from __future__ import annotations

import contextlib
import importlib
from types import ModuleType


class EditError(Exception):
    """The text was not changed; ``line`` is 1-based, ``remedy`` a sentence that says what to do."""

    def __init__(self, message: str, line: int | None = None, remedy: str | None = None) -> None:
        super().__init__(message, line, remedy)
        self.message = message
        self.line = line
        self.remedy = remedy

    def __str__(self) -> str:
        where = f"line {self.line}: " if self.line is not None else ""
        remedy = f". {self.remedy}" if self.remedy else ""
        return f"{where}{self.message}{remedy}"


class ParseError(EditError):
    """The program of the text would not read it, or could read it in two ways (duplicate keys)."""

    def __init__(
        self, message: str, line: int | None = None, column: int | None = None, remedy: str | None = None
    ) -> None:
        super().__init__(message, line, remedy)
        self.column = column


class UnsupportedEdit(EditError):
    """A splice cannot change this valid text safely, or a path leads through a plain value."""


class UneditableFile(Exception):
    """A file cannot be changed safely; the message has its path, line, reason and remedy."""

    def __init__(self, path: str, error: EditError) -> None:
        place = path if error.line is None else f"{path}:{error.line}"
        remedy = f" {error.remedy.rstrip('.')}." if error.remedy else ""
        super().__init__(f"Nothing was changed. {place}: {error.message}.{remedy}")


class MissingLibrary(EditError):
    """A Python library that the controller lacks; ``requirement`` is what pip installs."""

    def __init__(self, library: str, requirement: str) -> None:
        super().__init__(
            f"the Python library {library} is missing on the controller",
            remedy=f"Install it for the Python that runs ansible: pip install '{requirement}'",
        )
        self.library = library
        self.requirement = requirement


REQUIREMENTS = {"yaml": "PyYAML", "tomli": "tomli>=2.0"}


def library(name: str) -> ModuleType:
    """The imported module; MissingLibrary names what to install."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingLibrary(name, REQUIREMENTS[name]) from error


def preload(*names: str) -> None:
    """Import the installed ones of these libraries; a missing one is an error only where it is used."""
    for name in names:
        with contextlib.suppress(MissingLibrary):
            library(name)
