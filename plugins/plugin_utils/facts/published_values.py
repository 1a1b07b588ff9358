# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts as builtins that JSON and YAML know."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from .config_file import ConfigFile


def plain(value: Any) -> Any:
    """Dataclasses, Enums, tuples and sets as builtins that JSON and YAML know."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, frozenset):
        return sorted(plain(each) for each in value)
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value


def config_file(config: ConfigFile) -> dict[str, Any]:
    """What is told of a configuration file: never its text."""
    problem = config.problem
    return {
        "path": config.path,
        "kind": config.kind,
        "changed_after_start": config.changed_after_start,
        "problem": {"line": problem.line, "message": problem.message} if problem else None,
    }
